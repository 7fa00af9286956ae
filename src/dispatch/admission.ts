import { recordInput } from "../core/arguments.ts";
import type { RunResult } from "../core/call.ts";
import type { EventDraft } from "../core/event.ts";
import { breakerKvKey } from "./breaker.ts";
import type { Admission, Guard, Ports } from "./ports.ts";
import { startedOf, type Ran } from "./record.ts";

/** How a run may go on: by which guard its receipt is appended, and what it comes to if it may not fire. */
export interface Passed {
  guard: Guard;
  instead?: RunResult;
}

/**
 * What writes, spends a credential, has steps of its own or has failed lately asks the ledger before it
 * fires: nothing may happen by a row, and no secret leave by a binding, that is no longer so. A plain
 * reading row learns it at its append.
 */
export async function askFirst(ports: Ports, ran: Ran, guard: Guard): Promise<Passed | "stale"> {
  const { capability, credential, call } = ran;
  const writes = capability.operation === "write";
  const isWatched = !!guard.breaker && ports.breakers.watched(guard.breaker.key);
  const isPlain = credential.secrets.length === 0 && capability.row.type !== "flow";
  if (!writes && isPlain && !isWatched) return { guard };

  const input = writes ? recordInput(capability.schema, call.input) : null;
  const started = input && startedOf(ports, ran, input);
  const admission = await admit(ports, guard, started);
  if (admission.outcome === "stale") return "stale";
  const admitted: Guard = { ...guard, claims: [], fresh: true };
  if (admission.outcome === "open") {
    return { guard: admitted, instead: { ok: false, result: admission.error, attempts: 0 } };
  }
  return { guard: { ...admitted, started: started !== null } };
}

/** An operator closes a breaker by deleting its KV key, so that key is read while the row is open, and only then. */
async function admit(ports: Ports, guard: Guard, started: EventDraft | null): Promise<Admission> {
  const admission = await ports.ledger.admit(guard, started);
  if (admission.outcome !== "open" || !admission.marked || !guard.breaker) return admission;
  const { key } = guard.breaker;
  if ((await ports.stores.kv.get(breakerKvKey(key))) !== null) return admission;
  await ports.ledger.resetBreaker(key);
  return ports.ledger.admit(guard, started);
}
