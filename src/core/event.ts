import type { Json } from "./json.ts";

/** Every kind of event that a ledger may hold. */
export const EVENT_KINDS = [
  "INVOKE_STARTED",
  "INVOKE",
  "INVOKE_REFUSED",
  "DIRECTORY_MUTATE",
  "TOKEN_MINT",
  "TOKEN_REVOKE",
  "SECRET_BIND",
  "APPROVAL_REQUESTED",
  "APPROVAL_DECIDED",
  "BREAKER_OPEN",
  "AGENT_TURN",
  "AGENT_SCHEDULE",
  "ADJUDICATION",
  "EXAMINATION",
  "IMPORT",
  "TOKEN_ATTENUATE",
  "PIN",
  "OAUTH_GRANT",
  "SIGN_IN",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** The door by which a call came in. */
export const VIAS = [
  "http",
  "mcp",
  "agent",
  "schedule",
  "flow",
  "queue",
  "code",
  "batch",
  "email",
  "text",
  "approval",
  "console",
] as const;
export type Via = (typeof VIAS)[number];

/** What the engine hands to the ledger: everything but the ledger's own fields. Already redacted. */
export interface EventDraft {
  /** `inv_…` for INVOKE, `evt_…` otherwise; made by the engine, unique. */
  id: string;
  kind: EventKind;
  /** ISO 8601 UTC with milliseconds. */
  at: string;
  actor: string;
  via: Via;
  key: string | null;
  trace: string | null;
  parent: string | null;
  data: { [name: string]: Json };
}

/**
 * A draft as it goes to the ledger's object: `data` is its RFC 8785 form already, written where the event is
 * made, so that the one writer of the log neither reads nor writes it again.
 */
export interface PackedDraft extends Omit<EventDraft, "data"> {
  data: string;
  /** Copies of members of the data that the log files the event by. */
  ok: boolean | null;
  repairs: string | null;
  /** The invocation that an INVOKE_STARTED opens. */
  opens: string | null;
}

/** An event as it stands in the log. `hash` covers everything but `hash` and `signature`. */
export interface LedgerEvent extends EventDraft {
  seq: number;
  /** Hash of the event before this one; 64 zeros for the first. */
  prev: string;
  /** Which public key of the JWKS verifies the signature. */
  kid: string;
  /** Hex SHA-256 of the RFC 8785 form of the event without `hash` and `signature`. */
  hash: string;
  /** base64url Ed25519 over the 32 raw bytes of `hash`. */
  signature: string;
}

export type ReceiptStatus = "PROVEN_MATERIAL_RESULT" | "RAN_WITHOUT_MATERIAL" | "FAILED";

/** The `data` of an INVOKE event. Byte counts are UTF-8; `output` is null when it lies in R2. */
export interface ReceiptData {
  object_id: string;
  type: string;
  runner: string;
  version: number;
  ok: boolean;
  ran: true;
  material: boolean;
  status: ReceiptStatus;
  started_at: string;
  duration_ms: number;
  attempts: number;
  cost_usd: number;
  tokens: number;
  input: string | null;
  input_ref?: string;
  input_kind: "body" | "args";
  output: string | null;
  output_ref?: string;
  output_bytes: number;
  truncated?: true;
  fingerprints: { input: string; output: string; contract: string };
  token_id: string | null;
  repairs: string | null;
  replays: string | null;
  /** Relative addresses of this receipt's page, its confirmation, its replay, and what a repair names. */
  addresses: { receipt: string; confirm: string; replay: string; repair: string };
  /** How a sensitive row came to run: an owner passes the watcher, and the receipt says so. */
  watcher?: "owner";
}
