import type { Auth } from "./auth.ts";
import type { Via } from "./event.ts";
import type { Refusal } from "./failure.ts";
import type { Json } from "./json.ts";
import type { Principal } from "./principal.ts";
import type { VersionedRow } from "./row.ts";
import type { Docstring } from "./docstring.ts";

/**
 * What a caller puts in. `body` is text in the pipe grammar; `pieces` is the same already split (a flow
 * step, whose values may hold pipes of their own); `args` are named arguments.
 */
export type CallInput =
  | { kind: "body"; text: string }
  | { kind: "pieces"; pieces: string[] }
  | { kind: "args"; args: { [name: string]: Json } };

/** One wish to run one row, whatever transport brought it. */
export interface Call {
  key: string;
  input: CallInput;
  principal: Principal;
  via: Via;
  /** Shared by a whole tree of calls. */
  trace: string;
  /** Invocation that made this call, null at the root. */
  parent: string | null;
  /** Nesting below the root call, 0 there; flows and self-dispatch stop at MAX_DEPTH. */
  depth: number;
  /** Origin of this deployment as the caller sees it, e.g. `http://127.0.0.1:8787`. */
  origin: string;
  /** Dry run: the answer is what would be sent, and nothing fires. */
  shape: boolean;
  repairs: string | null;
  replays: string | null;
}

/** Deepest nesting of flows and of calls to this deployment's own origin. */
export const MAX_DEPTH = 8;

export type Operation = "read" | "write";

/** What a call believes of a key: the version it ran with. `secret:NAME` keys stand for host bindings. */
export interface Claim {
  key: string;
  version: number;
}

/** A row made ready to be called: its text read once, its fingerprint and its operation known. */
export interface Capability extends VersionedRow {
  doc: Docstring;
  operation: Operation;
  /** Hex SHA-256, see contract.ts. */
  fingerprint: string;
  /** Parsed input_schema; undefined when the row has none. */
  schema: { [name: string]: Json } | undefined;
  /** Every row this capability was computed from (itself, the steps of a flow, includes), with versions. */
  claims: Claim[];
  /** True when all of it was read from D1 during the present call; false when an isolate remembered it. */
  fresh: boolean;
}

/** What a row's auth column comes to in this environment; read before the gate, used by outbound/ alone. */
export interface Credential {
  /** Null: the row names no credential. */
  auth: Auth | null;
  /** An `ERR:http:<KEY>:ERR:auth:<reason>` that stands before any request, else null. */
  error: string | null;
  /** The secrets that `auth` names, in order. `value` null: absent from the environment. */
  secrets: { name: string; value: string | null; hosts: string[]; version: number }[];
  /** Hex digest over auth and values: another one means that the credential was replaced. */
  digest: string;
}

/** How a runner ended. `result` is a string beginning `ERR:` exactly when `ok` is false. */
export interface RunResult {
  ok: boolean;
  result: Json;
  /** Upstream requests made; 1 for what sends none. */
  attempts: number;
  truncated?: true;
  /** The owner is told when the named secret is not in the environment. */
  auth?: { name: string; present: false };
  /** What the upstream asked to wait, when that was longer than a call waits. */
  retryAfter?: string;
  /** What this run tells the row's circuit breaker; absent when the run says nothing about an upstream. */
  signal?: BreakerSignal;
}

/** `auth`: 401 or 403. `transport`: no answer, time-out, 502, 503, 504. `healthy`: any other answer. */
export type BreakerSignal = "auth" | "transport" | "healthy";

export type Outcome =
  | {
      kind: "ran";
      key: string;
      trace: string;
      invocation: string;
      run: RunResult;
    }
  | { kind: "shape"; key: string; trace: string; request: Json }
  | { kind: "refused"; key: string; trace: string; refusal: Refusal };

/** What the ledger said of a receipt. */
export interface Recorded {
  seq: number;
  at: string;
  hash: string;
  signature: string;
}

/** The text of a result, as it is stored, hashed, counted and handed on as `$PREV`. */
export function resultText(result: Json): string {
  return typeof result === "string" ? result : JSON.stringify(result);
}
