import { CanonicalError, parseUnambiguous } from "./canonical.ts";
import { checkEvent, checkHead, GENESIS, readJwks, type Link, type PublicKeys } from "./chain.ts";
import { isJsonObject, type Json } from "./json.ts";

export type Verdict =
  | { ok: true; count: number; head: Link }
  /** `seq`: the first event that is bad or missing; 0 when the keys of the first line are. */
  | { ok: false; seq: number; why: string };

type Lines = Iterable<string> | AsyncIterable<string>;

/**
 * Checks an export (SPEC §7): the JWKS, every event in its place, the signed head at the end. `trusted`
 * replaces the export's own keys, for a reader who knows them from elsewhere: whoever can rewrite a whole
 * file can also put new keys in front of it.
 */
export async function verifyExport(
  lines: Lines,
  trusted: PublicKeys | null = null,
): Promise<Verdict> {
  let keys: PublicKeys | null = null;
  let last: Link = GENESIS;
  let closed = false;
  const bad = (why: string): Verdict => ({ ok: false, seq: keys ? last.seq + 1 : 0, why });
  try {
    for await (const line of lines) {
      if (closed) return bad("lines behind the signed head");
      const value = parseUnambiguous(line);
      if (!keys) {
        const read = readJwks(value);
        if (typeof read === "string") return bad(read);
        keys = trusted ?? read;
      } else if (isHeadLine(value)) {
        const why = checkHead(value.head, last, keys);
        if (why) return bad(why);
        closed = true;
      } else {
        const why = checkEvent(value, last, keys);
        if (why) return bad(why);
        last = linkOf(value);
      }
    }
  } catch (error) {
    if (error instanceof CanonicalError) return bad(error.message);
    throw error;
  }
  if (!keys) return bad("empty");
  return closed
    ? { ok: true, count: last.seq, head: last }
    : bad("no signed head: the export is cut short");
}

/** The members that an event's hash covers, and the two that prove it. */
const EVENT_MEMBERS = [
  "id",
  "kind",
  "at",
  "actor",
  "via",
  "key",
  "trace",
  "parent",
  "data",
  "seq",
  "prev",
  "kid",
  "hash",
  "signature",
];

/** Checks one receipt as `?receipt=` answers it, where computed members stand beside the event's own. */
export function verifyReceipt(text: string, keys: PublicKeys): Verdict {
  try {
    const value = parseUnambiguous(text);
    if (!isJsonObject(value)) return { ok: false, seq: 0, why: "not an event" };
    const event = Object.fromEntries(
      Object.entries(value).filter(([name]) => EVENT_MEMBERS.includes(name)),
    );
    const why = checkEvent(event, null, keys);
    const head = linkOf(event);
    return why ? { ok: false, seq: head.seq, why } : { ok: true, count: 1, head };
  } catch (error) {
    if (error instanceof CanonicalError) return { ok: false, seq: 0, why: error.message };
    throw error;
  }
}

/**
 * Lines of a UTF-8 byte stream, by U+000A alone: readers that also break at U+2028 tear JSON apart. Bytes
 * that are not UTF-8 are a fault, not a replacement character that could hide a change.
 *
 * @throws CanonicalError
 */
export async function* linesOf(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest: string[] = [];
  for await (const chunk of chunks) {
    const pieces = decode(decoder, chunk).split("\n");
    const tail = pieces.pop() ?? "";
    for (const piece of pieces) {
      yield rest.join("") + piece;
      rest = [];
    }
    rest.push(tail);
  }
  rest.push(decode(decoder));
  const end = rest.join("");
  if (end !== "") yield end;
}

function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined });
  } catch {
    throw new CanonicalError("not UTF-8");
  }
}

function isHeadLine(value: Json): value is { head: Json } {
  return isJsonObject(value) && Object.keys(value).length === 1 && "head" in value;
}

function linkOf(event: Json): Link {
  const { seq, hash } = isJsonObject(event) ? event : {};
  return { seq: typeof seq === "number" ? seq : 0, hash: typeof hash === "string" ? hash : "" };
}
