/**
 * What a dispatch needs from the world, as interfaces of one to four methods. `runtime.ts` is the only
 * place that knows the adapters behind them.
 */
import type { Call, Capability, Claim, Outcome, Recorded } from "../core/call.ts";
import type { Config } from "../core/config.ts";
import type { EventDraft, LedgerEvent, Via } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import type { Principal } from "../core/principal.ts";
import type { BreakerSignal } from "../core/call.ts";
import type { BreakerMemory } from "./breaker.ts";

export interface Ports {
  config: Config;
  clock: Clock;
  ids: Ids;
  capabilities: Capabilities;
  ledger: Ledger;
  breakers: BreakerMemory;
  blobs: Blobs;
  secrets: Secrets;
  /** The deployment's own HTTP surface, for http rows that target it. */
  self: Self;
  /** Sends one request to the network; everything that may leave goes through `outbound/`. */
  fetch: (request: Request) => Promise<Response>;
  stores: Stores;
}

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

export interface Ids {
  /** `inv_<shard>_<18 letters or digits>`, in the order of their making to the second. */
  invocation(): string;
  /** `evt_<shard>_…` */
  event(): string;
  /** `t_…` */
  trace(): string;
}

export interface Capabilities {
  /**
   * The row under `key` (exact, then upper-cased), made ready. `fresh: false` may answer from what this
   * isolate remembers; the ledger then checks the claims. `fresh: true` reads D1 during the call.
   * Null when there is no such row. A disabled row is returned: the gate hides it.
   */
  resolve(key: string, options: { fresh: boolean }): Promise<Capability | null>;
  /** Up to five near keys among enabled rows. */
  near(key: string): Promise<string[]>;
}

/** Checked by the ledger in the same step that writes. */
export interface Guard {
  claims: Claim[];
  /** True: the claims were read from D1 during this call and hold whatever was written since. */
  fresh: boolean;
  /** The receipt ends an invocation that an INVOKE_STARTED event opened. */
  started?: boolean;
  breaker?: {
    key: string;
    /** Digest of the row's auth and the values behind it: another digest starts the count anew. */
    credential: string;
    signal?: BreakerSignal;
  };
}

/**
 * `stale`: a claim is older than the ledger's version, or a write of that key is under way; nothing was
 * written. `open`: the row's breaker is open, `error` is the exact ERR: text, and `marked` says that its KV key
 * was put there.
 */
export type Admission =
  | { outcome: "admitted" }
  | { outcome: "stale" }
  | { outcome: "open"; error: string; marked: boolean };

export type Appended =
  | {
      outcome: "appended";
      recorded: Recorded;
      /** This append opened the row's breaker. */
      opened: boolean;
      /** The row's breaker has counted failures: the next call must be admitted first. */
      watched: boolean;
    }
  | { outcome: "stale" };

/** The ledger's object did not answer: nothing was recorded, so nothing may be answered as done. */
export class LedgerUnavailable extends Error {
  override name = "LedgerUnavailable";
}

/** Every method throws LedgerUnavailable when the object behind it fails. */
export interface Ledger {
  /**
   * Asked before a run that writes (with its INVOKE_STARTED event), sends a credential, or whose breaker
   * has counted failures (no event). Durable before it resolves.
   */
  admit(guard: Guard, started: EventDraft | null): Promise<Admission>;
  /** Appends one event; durable before it resolves. */
  append(draft: EventDraft, guard: Guard | null): Promise<Appended>;
  /** The event with that id; for an invocation that has only started, its INVOKE_STARTED. Null if unknown. */
  find(id: string): Promise<LedgerEvent | null>;
  /** Clears the row's breaker (its KV key was deleted). */
  resetBreaker(key: string): Promise<void>;
  /** The KV key of the row's open breaker stands: from now on its absence means that it was deleted. */
  markBreaker(key: string): Promise<void>;
}

/** Large bytes, by hash, written once. */
export interface Blobs {
  /** Stores the UTF-8 bytes under the name that it resolves to: `sha256/<hex>`. */
  put(text: string, hashHex: string): Promise<string>;
  get(ref: string): Promise<string | null>;
}

export interface Secrets {
  /** The value, trimmed of white space at both ends; null when absent or empty. Reserved names are null. */
  value(name: string): string | null;
  /** Rowcall's own names: never usable by a row. */
  reserved(name: string): boolean;
  /** Hosts (`host` or `host:port`) a secret may go to, and the version of that binding. */
  binding(name: string, options: { fresh: boolean }): Promise<{ hosts: string[]; version: number }>;
}

/** Who makes a request to this deployment from inside it. */
export interface InnerCaller {
  principal: Principal;
  depth: number;
  trace: string;
  parent: string;
}

export interface Self {
  fetch(request: Request, caller: InnerCaller): Promise<Response>;
}

/** The bindings that built-in functions may use. */
export interface Stores {
  db: D1Database;
  kv: KVNamespace;
  /** The bucket of user objects; without one the `r2_*` functions answer that it is not configured. */
  r2?: R2Bucket;
  directory: DirectoryWrites;
}

/** An answer of a management call before it is bytes. A refusal is an answer too; a throw is a fault of this engine. */
export interface Answer {
  status: number;
  body: JsonObject;
  /** The version of the row that the answer speaks of: its ETag. */
  version?: number;
}

/** Who changes something and from where; a `Call` will do. */
export interface Author {
  principal: Principal;
  via: Via;
  trace: string | null;
  /** Invocation in which the change is made, null when a person makes it. */
  parent: string | null;
}

/** The directory API as functions: same rules, same refusals. `json` is the text of the request body. */
export interface DirectoryWrites {
  get(key: string): Promise<Answer>;
  put(key: string, json: string, author: Author): Promise<Answer>;
  patch(key: string, json: string, author: Author): Promise<Answer>;
}

/** Runs a nested call; the one way for flows and agents to reach another row. */
export type DispatchChild = (call: Call) => Promise<Outcome>;
