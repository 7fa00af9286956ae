import { readArguments, type Arguments } from "../core/arguments.ts";
import type { Call, Capability, Outcome } from "../core/call.ts";
import { invalidArguments, type Refusal } from "../core/failure.ts";
import type { RunContext, Runner } from "./runner.ts";
import { askFirst } from "./admission.ts";
import { breakerOf, noteBreaker, withSignal } from "./breaker.ts";
import { credentialClaims, readCredential } from "./credential.ts";
import { decideCaller, decideRow } from "./gate.ts";
import type { Ports } from "./ports.ts";
import { receiptOf, recordRefusal, type Ran } from "./record.ts";

/** Which runner serves a row; exhaustive over types, injected by the composition root. */
export type RunnerOf = (capability: Capability) => Runner;

export type Dispatch = (call: Call) => Promise<Outcome>;

/** One run under way: what the steps below hand to each other. */
interface Attempt extends Ran {
  args: Arguments;
  runner: Runner;
}

/**
 * The one path of a call, whatever transport brought it.
 *
 * An isolate may remember rows; the ledger, which every write and every call passes, knows each row's
 * version. So the first attempt runs on what is remembered, and when the ledger finds that stale the
 * call runs again on rows read from D1 since it began: that answer is right whatever was written
 * meanwhile, so two attempts are enough, and no caller ever sees an older row than was answered before.
 */
export function makeDispatch(ports: Ports, runnerOf: RunnerOf): Dispatch {
  const dispatch: Dispatch = async (call) => {
    const invocation = ports.ids.invocation();
    const remembered = await attempt(call, invocation, false);
    if (remembered !== "stale") return remembered;
    const fresh = await attempt(call, invocation, true);
    if (fresh !== "stale") return fresh;
    throw new Error("the ledger called a row stale that was read during the call");
  };

  async function attempt(
    call: Call,
    invocation: string,
    fresh: boolean,
  ): Promise<Outcome | "stale"> {
    const stranger = decideCaller(call.principal);
    if (stranger) return refuse(call, stranger);
    // 1 resolve. A dry run never meets the ledger, so it reads the row itself.
    const capability = await ports.capabilities.resolve(call.key, { fresh: fresh || call.shape });
    // A refusal must not rest on a row that an isolate remembers and another has changed since.
    const refuseBy = async (refusal: Refusal): Promise<Outcome | "stale"> =>
      capability && !capability.fresh ? "stale" : refuse(call, refusal);
    // 2 gate
    const near = (): Promise<string[]> => ports.capabilities.near(call.key);
    const refusal = await decideRow({ principal: call.principal, key: call.key, capability, near });
    if (refusal) return refuseBy(refusal);
    if (!capability) throw new Error("the gate let an unknown key pass");
    // 3 arguments
    const read = readArguments(capability.schema, call.input);
    if (!read.ok) return refuseBy(invalidArguments(read.issues, capability.fingerprint));

    const credential = await readCredential(ports, capability);
    const runner = runnerOf(capability);
    const ready: Attempt = { call, invocation, capability, args: read.args, credential, runner };
    if (call.shape) {
      const request = await runner.shape(contextOf(ready));
      return { kind: "shape", key: capability.row.key, trace: call.trace, request };
    }
    // 4 watcher: an owner's call passes under every mode; the receipt says so.
    return run(ready);
  }

  async function run(ready: Attempt): Promise<Outcome | "stale"> {
    const { call, capability, credential, invocation, runner } = ready;
    const startedAtMs = ports.clock.now();
    const breaker = breakerOf(capability, credential);
    const claims = [...capability.claims, ...credentialClaims(credential)];
    // 5 run
    const passed = await askFirst(ports, ready, {
      claims,
      fresh: capability.fresh,
      ...(breaker && { breaker }),
    });
    if (passed === "stale") return "stale";
    const result = passed.instead ?? (await runner.run(contextOf(ready)));
    // 6 record: no outcome leaves before its receipt is durable.
    const draft = await receiptOf(ports, ready, result, startedAtMs);
    const appended = await ports.ledger.append(draft, withSignal(passed.guard, result));
    if (appended.outcome === "stale") return "stale";
    if (breaker) await noteBreaker(ports, breaker.key, appended);
    return { kind: "ran", key: capability.row.key, trace: call.trace, invocation, run: result };
  }

  function contextOf({ call, invocation, capability, args, credential }: Attempt): RunContext {
    return { ports, call, invocation, capability, args, credential, dispatch };
  }

  async function refuse(call: Call, refusal: Refusal): Promise<Outcome> {
    await recordRefusal(ports, call, refusal);
    return { kind: "refused", key: call.key, trace: call.trace, refusal };
  }

  return dispatch;
}
