import { readArguments } from "../../src/core/arguments.ts";
import type { Call, CallInput, Capability, Outcome, RunResult } from "../../src/core/call.ts";
import { parseConfig } from "../../src/core/config.ts";
import { parseDocstring } from "../../src/core/docstring.ts";
import { OWNER } from "../../src/core/principal.ts";
import type { Row } from "../../src/core/row.ts";
import type { Ports, Stores } from "../../src/dispatch/ports.ts";
import type { RunContext } from "../../src/dispatch/runner.ts";

interface Scene {
  row?: Partial<Row>;
  input?: CallInput | string;
  call?: Partial<Call>;
  nowMs?: number;
  stores?: Partial<Stores>;
  dispatch?: (call: Call) => Promise<Outcome>;
}

/** A context as a dispatch would make it for one row; only what a scene names is there. */
export function runContext(scene: Scene): RunContext {
  const input =
    typeof scene.input === "object"
      ? scene.input
      : { kind: "body" as const, text: scene.input ?? "" };
  const read = readArguments(undefined, input);
  if (!read.ok) throw new Error("the arguments of this scene are bad");
  const row = { key: "ROW", type: "fn", target: null, content: "", ...scene.row } as Row;
  const ports = {
    config: parseConfig({ TERMINAL_KEY: "owner-key-of-the-test-deployment" }),
    clock: { now: () => scene.nowMs ?? 0, sleep: () => Promise.resolve() },
    stores: scene.stores ?? {},
  } as unknown as Ports;
  return {
    ports,
    call: {
      key: row.key,
      input,
      principal: OWNER,
      via: "http",
      trace: "t_1",
      parent: null,
      depth: 0,
      origin: "https://example.com",
      shape: false,
      repairs: null,
      replays: null,
      ...scene.call,
    },
    invocation: "inv_0_0000000000000001",
    capability: {
      row,
      doc: parseDocstring(row.content),
      version: 1,
      claims: [],
      fresh: true,
    } as unknown as Capability,
    args: read.args,
    credential: { auth: null, error: null, secrets: [], digest: "" },
    dispatch: scene.dispatch ?? (() => Promise.reject(new Error("this scene has no other rows"))),
  };
}

/** The outcome of a row that ran. */
export function ran(call: Call, run: RunResult): Outcome {
  return {
    kind: "ran",
    key: call.key,
    trace: call.trace,
    invocation: "inv_0_child",
    run,
  };
}
