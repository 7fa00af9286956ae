import { isJsonObject, type Json } from "./json.ts";

/**
 * JSON as text that keeps its digits. `JSON.parse` rounds a 19-digit id in silence; here such a number
 * becomes a raw JSON object, which `JSON.stringify` prints back digit by digit. Both halves are in V8
 * (Node 24, workerd); TypeScript's library does not declare them yet.
 */
export interface ExactNumber {
  readonly rawJSON: string;
}

interface SourceTextJson {
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): value is ExactNumber;
  parse(
    text: string,
    reviver: (name: string, value: Json, context: { source?: string }) => unknown,
  ): Json;
}

const sourceText = JSON as unknown as SourceTextJson;

/** Deeper documents are refused: every walk over a parsed value may recurse and stay within the stack. */
const MAX_DEPTH = 256;

/** Only such a text can hold a number that a double does not keep; any other takes the fast way. */
const MAY_ROUND = /\d{16}|\.\d{15}|\d[eE]/;

/**
 * `JSON.parse` that never rounds and never sets a prototype (a member `__proto__` is an own member).
 *
 * @throws SyntaxError when the text is not one JSON value, or nests deeper than 256.
 */
export function parseExact(text: string): Json {
  if (nestsDeeperThan(text, MAX_DEPTH))
    throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`);
  if (!MAY_ROUND.test(text)) return JSON.parse(text) as Json;
  return sourceText.parse(text, (_name, value, { source }) =>
    typeof value === "number" && source !== undefined && decimal(source) !== decimal(String(value))
      ? sourceText.rawJSON(source)
      : value,
  );
}

export function stringifyExact(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

/** True for a number that `parseExact` kept as its digits. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return sourceText.isRawJSON(value);
}

/** How every JSON value begins. A thrown SyntaxError costs more than all the rest of a call. */
const BEGINS_JSON = /^[\t\n\r ]*["{[\d\-tfn]/;

export function isJsonText(text: string): boolean {
  return readJson(text) !== undefined;
}

/** The value of a text that is one JSON value, undefined for any other text. */
export function readJson(text: string): Json | undefined {
  if (!BEGINS_JSON.test(text)) return undefined;
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** RFC 6901. Undefined when the pointer is malformed or leads nowhere; inherited members are nowhere. */
export function readPointer(value: Json, pointer: string): Json | undefined {
  if (pointer === "") return value;
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined;
  let at: Json | undefined = value;
  for (const token of pointer.slice(1).split("/")) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) at = /^(?:0|[1-9]\d*)$/.test(name) ? at[Number(name)] : undefined;
    else if (isJsonObject(at) && !isExactNumber(at) && Object.hasOwn(at, name)) at = at[name];
    else return undefined;
  }
  return at;
}

/** Sign, significant digits and exponent: equal for two spellings of one decimal number. */
function decimal(source: string): string {
  const [mantissa = "", exponent = "0"] = source.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = withoutTrailingZeros(digits);
  if (significant === "") return "0";
  const scale = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${source.startsWith("-") ? "-" : ""}${significant}e${scale}`;
}

/** By hand: the regex `0+$` takes quadratic time on zeros that a digit ends. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}

function nestsDeeperThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (quoted) {
      if (char === "\\") at++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "[" || char === "{") {
      if (++depth > limit) return true;
    } else if (char === "]" || char === "}") depth--;
  }
  return false;
}
