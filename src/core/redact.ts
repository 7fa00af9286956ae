/**
 * Redaction by value (a secret that an upstream echoes, SPEC §8) and by name (what must not reach the
 * ledger, SPEC §7). Both work on the text as it stands and never re-print it, so 19-digit integers and
 * spacing survive. The text is an upstream's: every step here moves forward, so the time is linear.
 */
import { memo } from "./memo.ts";
import { MARK, valueAfter } from "./sensitive-value.ts";
import { spellings } from "./secret-spellings.ts";

export const REDACTED = MARK;

export interface SecretValue {
  name: string;
  value: string;
}

/** Shorter values occur in any text by chance; replacing them would destroy answers and hide nothing. */
const MIN_VALUE_LENGTH = 4;

interface Needle {
  text: string;
  name: string;
  /** Where it occurs next; Infinity when no more. */
  at: number;
}

/**
 * Replaces every spelling of every secret's value by `[redacted:NAME]`, the longest first, in one pass:
 * what was inserted is never looked at again. `cut: true` says that the text was cut at its end, so that
 * a beginning of a secret there is replaced too.
 */
export function redactValues(
  text: string,
  secrets: readonly SecretValue[],
  options: { cut?: boolean } = {},
): string {
  const needles = needlesOf(secrets);
  const present = needles.filter((needle) => (needle.at = next(text, needle, 0)) !== Infinity);
  const tail = options.cut ? cutTail(text, needles) : null;
  if (present.length === 0 && tail === null) return text;
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    let first: Needle | undefined;
    for (const needle of present) {
      if (needle.at < from) needle.at = next(text, needle, from);
      if (needle.at < (first?.at ?? Infinity)) first = needle; // equal: `present` is longest first
    }
    if (first === undefined || first.at === Infinity) break;
    let end = first.at + first.text.length;
    // Two secrets may overlap in a text; what is left of the second would still be part of a secret.
    for (const needle of present) {
      if (needle.at < end) end = Math.max(end, needle.at + needle.text.length);
    }
    parts.push(text.slice(from, first.at), `[redacted:${first.name}]`);
    from = end;
  }
  if (tail === null || from === text.length) parts.push(text.slice(from));
  else parts.push(text.slice(from, Math.max(from, tail.at)), `[redacted:${tail.name}]`);
  return parts.join("");
}

/** Header lines with the values of credential headers replaced. */
export function redactHeaders(headers: readonly (readonly [string, string])[]): [string, string][] {
  return headers.map(([name, value]) => [name, isSensitiveName(name) ? REDACTED : value]);
}

function next(text: string, needle: Needle, from: number): number {
  const at = text.indexOf(needle.text, from);
  return at < 0 ? Infinity : at;
}

/** Whoever redacts with one list again and again keeps the list, and this the work that goes into it. */
const prepared = new WeakMap<readonly SecretValue[], Needle[]>();

function needlesOf(secrets: readonly SecretValue[]): Needle[] {
  const known = prepared.get(secrets);
  if (known) return known;
  const made = makeNeedles(secrets);
  prepared.set(secrets, made);
  return made;
}

function makeNeedles(secrets: readonly SecretValue[]): Needle[] {
  const byText = new Map<string, Needle>();
  for (const { name, value } of secrets) {
    if (value.length < MIN_VALUE_LENGTH) continue;
    for (const text of knownSpellings(value)) {
      if (!byText.has(text)) byText.set(text, { text, name, at: Infinity });
    }
  }
  return [...byText.values()].sort((a, b) => b.text.length - a.text.length);
}

/** A deployment has few secrets and spends them again and again. */
const knownSpellings = memo(spellings, 64);

/** The longest end of the text that begins a secret. */
function cutTail(text: string, needles: readonly Needle[]): { at: number; name: string } | null {
  let longest: { at: number; name: string } | null = null;
  for (const needle of needles) {
    const most = Math.min(needle.text.length - 1, text.length);
    for (let length = most; length >= MIN_VALUE_LENGTH; length -= 1) {
      const at = text.length - length;
      if (longest !== null && at >= longest.at) break;
      if (text.startsWith(needle.text.slice(0, length), at)) longest = { at, name: needle.name };
    }
  }
  return longest;
}

/** Names whose value is a credential, wherever they stand. */
const SENSITIVE = /authorization|api[-_]?key|token|secret|password|^(?:set-)?cookie$/i;
const HINT = /authorization|cookie|api[-_]?key|token|secret|password/i;
const NOT_A_COUNT = /authorization|api[-_]?key|secret|password|cookie/i;

/** With brackets and `%`, so that `user[password]` and its encoded form are one name. */
const NAME_CHARACTER = /[\w.$%[\]-]/;

export function isSensitiveName(name: string): boolean {
  return SENSITIVE.test(name);
}

/** `max_tokens: 100` is a setting and no token: numbers and booleans under such a name are kept. */
function isCountName(name: string): boolean {
  return !NOT_A_COUNT.test(name);
}

/**
 * Replaces what stands under a sensitive name: members of JSON (also of JSON quoted inside a JSON string,
 * at any depth), pairs of a query or form, and header lines. A member stays one JSON value.
 */
export function redactNames(text: string): string {
  if (!HINT.test(text)) return text;
  const hint = new RegExp(HINT, "gi");
  const parts: string[] = [];
  let copied = 0;
  let done = 0;
  while (hint.exec(text) !== null) {
    let end = hint.lastIndex;
    let start = end - 1;
    while (start > done && NAME_CHARACTER.test(text[start - 1]!)) start -= 1;
    while (end < text.length && NAME_CHARACTER.test(text[end]!)) end += 1;
    // The n of an escaped line break is no letter of the name behind it.
    if (text[start - 1] === "\\" && /[nrt]/.test(text[start]!)) start += 1;
    const name = text.slice(start, end);
    const span = isSensitiveName(name) ? valueAfter(text, start, end, isCountName(name)) : null;
    if (span !== null) {
      parts.push(text.slice(copied, span.from), span.text);
      copied = span.to;
    }
    done = hint.lastIndex = Math.max(end, span?.to ?? 0);
  }
  parts.push(text.slice(copied));
  return parts.join("");
}
