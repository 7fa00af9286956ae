import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { canonical, CanonicalError, interoperable, rfc8785, sha256Hex } from "./canonical.ts";
import type { EventDraft, PackedDraft } from "./event.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";

/** What the next event is chained to. */
export interface Link {
  seq: number;
  hash: string;
}

/** Before the first event. */
export const GENESIS: Link = { seq: 0, hash: "0".repeat(64) };

/** Signs bytes with the Ed25519 key that `kid` names. */
export type Sign = (bytes: Uint8Array) => Buffer;

export interface Signer {
  kid: string;
  sign: Sign;
}

/** A public key as `/.well-known/jwks.json` shows it. `kid` is the RFC 7638 thumbprint, so it binds `x`. */
export interface PublicJwk {
  kty: "OKP";
  crv: "Ed25519";
  x: string;
  kid: string;
  alg: "EdDSA";
  use: "sig";
}

export interface Jwks {
  keys: PublicJwk[];
}

/** Public keys by kid. */
export type PublicKeys = ReadonlyMap<string, KeyObject>;

/** The signed end of an export: without it nobody sees that events are missing behind the last one. */
export interface SignedHead {
  origin: string;
  size: number;
  /** Hash of event number `size`; 64 zeros for an empty log. */
  hash: string;
  at: string;
  kid: string;
  /** base64url Ed25519 over the RFC 8785 form of the head without this member. */
  signature: string;
}

const HEX_64 = /^[0-9a-f]{64}$/;

/** An event of the log may have so many bytes of data: a value of an object's SQLite holds 2 MB. */
const MAX_DATA_BYTES = 1_048_576;

/** Compact JSON of one member that is left whole in data which as a whole is too large. */
const MAX_MEMBER_BYTES = 16_384;

/**
 * A draft in the form that is stored. Total: what has no canonical form becomes its nearest value, and data
 * that is too large keeps its small members, and size and hash of each large one. So no caller can bring an
 * append to fail by what it sends.
 */
export function packDraft({ data, ...head }: EventDraft): PackedDraft {
  const whole = rfc8785(interoperable(data));
  const stored = Buffer.byteLength(whole) <= MAX_DATA_BYTES ? whole : withoutLargeMembers(data);
  return {
    ...head,
    data: stored,
    ok: typeof data.ok === "boolean" ? data.ok : null,
    repairs: typeof data.repairs === "string" ? data.repairs : null,
    opens: typeof data.invocation_id === "string" ? data.invocation_id : null,
  };
}

function withoutLargeMembers(data: EventDraft["data"]): string {
  const members = Object.entries(data).map(([name, value]): [string, Json] => {
    const member = rfc8785(interoperable(value));
    const bytes = Buffer.byteLength(member);
    const omitted = { omitted: { bytes, sha256: sha256Hex(member) } };
    return [name, bytes <= MAX_MEMBER_BYTES ? value : omitted];
  });
  return rfc8785(interoperable(Object.fromEntries(members)));
}

/** What the ledger adds to a draft, and the RFC 8785 form of the event that comes of it. */
export interface Chained extends Link {
  signature: string;
  form: string;
}

/** Makes the event that follows `prev`. */
export function chainEvent(
  draft: PackedDraft,
  { seq, prev, kid, sign }: { seq: number; prev: string } & Signer,
): Chained {
  const place = { seq, prev, kid };
  const hash = sha256Hex(formOf(draft, place, null));
  const signature = sign(Buffer.from(hash, "hex")).toString("base64url");
  return { seq, hash, signature, form: formOf(draft, place, { hash, signature }) };
}

/**
 * The RFC 8785 form of an event with its seal and without it. Its members have fixed names, here in their
 * canonical order, and its data, which is most of it, comes in that form.
 */
function formOf(
  { actor, at, data, id, key, kind, parent, trace, via }: PackedDraft,
  { seq, prev, kid }: { seq: number; prev: string; kid: string },
  seal: { hash: string; signature: string } | null,
): string {
  const text = (value: string | null): string => JSON.stringify(value && value.toWellFormed());
  return (
    `{"actor":${text(actor)},"at":${text(at)},"data":${data}` +
    (seal ? `,"hash":"${seal.hash}"` : "") +
    `,"id":${text(id)},"key":${text(key)},"kid":${text(kid)},"kind":${text(kind)}` +
    `,"parent":${text(parent)},"prev":${text(prev)},"seq":${seq}` +
    (seal ? `,"signature":"${seal.signature}"` : "") +
    `,"trace":${text(trace)},"via":${text(via)}}`
  );
}

/**
 * Why an event is bad, or null. `prev` null: the event is checked alone, its place in the chain is not.
 * It is verified as a document, whatever its spacing, order of members and escapes.
 */
export function checkEvent(event: unknown, prev: Link | null, keys: PublicKeys): string | null {
  if (!isJsonObject(event)) return "not an event";
  const { hash, signature, ...unsigned } = event;
  if (prev && unsigned.seq !== prev.seq + 1)
    return `seq ${JSON.stringify(unsigned.seq)} where ${prev.seq + 1} belongs`;
  if (prev && unsigned.prev !== prev.hash) return "prev is not the hash of the event before";
  if (typeof hash !== "string" || !HEX_64.test(hash)) return "malformed hash";
  let form: string;
  try {
    form = canonical(unsigned);
  } catch (error) {
    if (error instanceof CanonicalError) return error.message;
    throw error;
  }
  if (sha256Hex(form) !== hash) return "hash does not match the event";
  return checkSignature(Buffer.from(hash, "hex"), unsigned.kid, signature, keys);
}

export function signHead(
  head: Omit<SignedHead, "kid" | "signature">,
  { kid, sign }: Signer,
): SignedHead {
  const unsigned = { ...head, kid };
  return { ...unsigned, signature: sign(Buffer.from(rfc8785(unsigned))).toString("base64url") };
}

/** Why a head does not close a log that ends in `last`, or null. */
export function checkHead(head: unknown, last: Link, keys: PublicKeys): string | null {
  if (!isJsonObject(head)) return "not a head";
  const { signature, ...unsigned } = head;
  const bad = checkSignature(Buffer.from(rfc8785(unsigned)), unsigned.kid, signature, keys);
  if (bad) return bad;
  if (unsigned.size !== last.seq)
    return `the signed head counts ${JSON.stringify(unsigned.size)} events`;
  return unsigned.hash === last.hash ? null : "the signed head has another hash";
}

/** RFC 7638 thumbprint of an Ed25519 public key. */
export function thumbprint(x: string): string {
  return Buffer.from(sha256Hex(rfc8785({ crv: "Ed25519", kty: "OKP", x })), "hex").toString(
    "base64url",
  );
}

export function publicJwk(x: string): PublicJwk {
  return { kty: "OKP", crv: "Ed25519", x, kid: thumbprint(x), alg: "EdDSA", use: "sig" };
}

/** The Ed25519 keys of a JWKS; keys of other kinds sign other things. A bad set is told as a sentence. */
export function readJwks(value: Json): PublicKeys | string {
  if (!isJsonObject(value) || !Array.isArray(value.keys) || Object.keys(value).length !== 1)
    return "not a JWKS";
  const keys = new Map<string, KeyObject>();
  for (const jwk of value.keys) {
    if (!isJsonObject(jwk) || typeof jwk.kty !== "string") return "not a JWKS";
    if (jwk.kty !== "OKP") continue;
    const key = readJwk(jwk);
    if (typeof key === "string") return key;
    keys.set(String(jwk.kid), key);
  }
  return keys;
}

function readJwk(jwk: JsonObject): KeyObject | string {
  const { x } = jwk;
  if (typeof x !== "string" || rfc8785(jwk) !== rfc8785(publicJwk(x)))
    return "a key is not what its kid names";
  try {
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  } catch {
    return "a key is malformed";
  }
}

/** An unknown key is not a forged signature: whoever verifies has to know which of the two it is. */
function checkSignature(
  bytes: Uint8Array,
  kid: unknown,
  signature: unknown,
  keys: PublicKeys,
): string | null {
  const key = typeof kid === "string" ? keys.get(kid) : undefined;
  if (!key) return `unknown key ${JSON.stringify(kid)}`;
  const raw = typeof signature === "string" ? Buffer.from(signature, "base64url") : null;
  // The last character of a base64url signature has four idle bits: only one spelling is right.
  if (!raw || raw.length !== 64 || base64url(raw) !== signature) return "malformed signature";
  return verify(null, bytes, key, raw) ? null : "signature does not match";
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}
