import { recordInput } from "../core/arguments.ts";
import {
  resultText,
  type Call,
  type Capability,
  type Credential,
  type RunResult,
} from "../core/call.ts";
import { sha256Hex } from "../core/canonical.ts";
import type { Config } from "../core/config.ts";
import type { EventDraft, ReceiptData, ReceiptStatus } from "../core/event.ts";
import type { Refusal } from "../core/failure.ts";
import type { Json } from "../core/json.ts";
import { memo } from "../core/memo.ts";
import { actorOf } from "../core/principal.ts";
import { redactNames, redactValues, type SecretValue } from "../core/redact.ts";
import type { Ports } from "./ports.ts";

/** Text up to this many UTF-8 bytes stands in the event; a longer one lies in R2 under its hash. */
const INLINE_BYTES = 64 * 1024;

/** One run, as far as its record is concerned. */
export interface Ran {
  call: Call;
  invocation: string;
  capability: Capability;
  credential: Credential;
}

/** The event that makes an effect visible whose engine died before its receipt. */
export function startedOf(ports: Ports, ran: Ran, input: { text: string }): EventDraft {
  const { call, invocation, capability } = ran;
  const text = redact(ports, ran.credential, input.text);
  return {
    ...headOf(call, ports, capability.row.key),
    id: ports.ids.event(),
    kind: "INVOKE_STARTED",
    data: {
      invocation_id: invocation,
      version: capability.version,
      fingerprints: { input: sha256Hex(text), contract: capability.fingerprint },
    },
  };
}

/** The receipt of a run, redacted, with large texts put away. Written by the engine alone. */
export async function receiptOf(
  ports: Ports,
  ran: Ran,
  result: RunResult,
  startedAtMs: number,
): Promise<EventDraft> {
  const { call, invocation, capability, credential } = ran;
  const { row } = capability;
  const recorded = recordInput(capability.schema, call.input);
  const raw = resultText(result.result);
  const stored: Promise<string>[] = [];
  const input = keep(ports, redact(ports, credential, recorded.text), stored);
  const output = keep(ports, redact(ports, credential, raw), stored);
  if (stored.length > 0) await Promise.all(stored);
  const material = result.ok && isMaterial(result.result);
  const data: ReceiptData = {
    object_id: row.key,
    type: row.type,
    runner: row.runner ?? row.type,
    version: capability.version,
    ok: result.ok,
    ran: true,
    material,
    status: statusOf(result.ok, material),
    started_at: new Date(startedAtMs).toISOString(),
    duration_ms: ports.clock.now() - startedAtMs,
    attempts: result.attempts,
    cost_usd: 0,
    tokens: 0,
    input: input.text,
    ...(input.ref && { input_ref: input.ref }),
    input_kind: recorded.kind,
    output: output.text,
    ...(output.ref && { output_ref: output.ref }),
    output_bytes: output.bytes,
    ...(result.truncated && { truncated: true }),
    fingerprints: { input: input.hash, output: output.hash, contract: capability.fingerprint },
    token_id: null,
    repairs: call.repairs,
    replays: call.replays,
    addresses: addressesOf(invocation),
    ...(row.sensitive && { watcher: "owner" as const }),
  };
  return {
    ...headOf(call, ports, row.key),
    id: invocation,
    kind: "INVOKE",
    data: data as unknown as { [name: string]: Json },
  };
}

/** A refusal of a known principal is evidence; a stranger's is only counted. */
export async function recordRefusal(ports: Ports, call: Call, refusal: Refusal): Promise<void> {
  if (call.principal.kind === "anonymous") return;
  const draft: EventDraft = {
    ...headOf(call, ports, call.key.slice(0, 128)),
    id: ports.ids.event(),
    kind: "INVOKE_REFUSED",
    data: { rule: refusal.error, status: refusal.status },
  };
  await ports.ledger.append(draft, null);
}

function headOf(call: Call, ports: Ports, key: string): Omit<EventDraft, "id" | "kind" | "data"> {
  return {
    at: new Date(ports.clock.now()).toISOString(),
    actor: actorOf(call.principal),
    via: call.via,
    key,
    trace: call.trace,
    parent: call.parent,
  };
}

function redact(ports: Ports, credential: Credential, text: string): string {
  const own = ownSecrets(ports.config);
  const used = credential.secrets.flatMap(({ name, value }) => (value ? [{ name, value }] : []));
  return redactNames(redactValues(text, used.length > 0 ? [...own, ...used] : own));
}

const ownSecretsOf = new WeakMap<Config, readonly SecretValue[]>();

/** The owner key opened the call, so it is among the secrets that the call used. */
function ownSecrets(config: Config): readonly SecretValue[] {
  const known = ownSecretsOf.get(config);
  if (known) return known;
  const made = [{ name: "TERMINAL_KEY", value: config.TERMINAL_KEY }];
  ownSecretsOf.set(config, made);
  return made;
}

/** The same small inputs and outputs come again and again, and a hash is the dearest part of recording them. */
const knownHash = memo(sha256Hex, 256);

interface Kept {
  text: string | null;
  ref?: string;
  bytes: number;
  hash: string;
}

/** Fingerprints are over the bytes as they are stored, which is after redaction. What lies in R2 joins `stored`. */
function keep(ports: Ports, text: string, stored: Promise<string>[]): Kept {
  const hash = knownHash(text);
  const bytes = Buffer.byteLength(text);
  if (bytes <= INLINE_BYTES) return { text, bytes, hash };
  stored.push(ports.blobs.put(text, hash));
  return { text: null, ref: `sha256/${hash}`, bytes, hash };
}

function statusOf(ok: boolean, material: boolean): ReceiptStatus {
  if (!ok) return "FAILED";
  return material ? "PROVEN_MATERIAL_RESULT" : "RAN_WITHOUT_MATERIAL";
}

/** Material is what says something: not blank text, not null, not an empty list or object. */
function isMaterial(result: Json): boolean {
  if (typeof result === "string") return result.trim() !== "";
  if (typeof result === "object") return result !== null && Object.keys(result).length > 0;
  return true;
}

function addressesOf(id: string): ReceiptData["addresses"] {
  return {
    receipt: `/receipt/${id}`,
    confirm: `/api/dispatch?confirm=${id}`,
    replay: `/api/dispatch?replay=${id}`,
    repair: `POST /api/dispatch {"key":"…","repairs":"${id}"}`,
  };
}
