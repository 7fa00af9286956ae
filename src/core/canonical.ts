import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Json } from "./json.ts";

/** A value or a text that two readers could take for different documents. */
export class CanonicalError extends Error {}

/**
 * The RFC 8785 form of a value. Lone surrogates, NaN and infinities have none.
 *
 * @throws CanonicalError
 */
export function rfc8785(value: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (error) {
    throw new CanonicalError(error instanceof Error ? error.message : String(error));
  }
  if (text === undefined) throw new CanonicalError("not a JSON value");
  return text;
}

/**
 * The RFC 8785 form of what is signed. Stricter by one rule: a whole number that doubles cannot tell
 * from its neighbour is refused, since another reader would sign other digits. From 1e21 on the form is
 * written with an exponent, and nobody takes it for exact.
 *
 * @throws CanonicalError
 */
export function canonical(value: unknown): string {
  const text = rfc8785(value);
  forEachNode(value, (node) => {
    if (typeof node === "number" && isUnsafe(node))
      throw new CanonicalError(`unsafe integer ${node}`);
  });
  return text;
}

/**
 * The nearest value that `canonical` takes: lone surrogates become U+FFFD (as in their UTF-8 bytes, so
 * fingerprints still match), unsafe integers their digits as text, other numbers that JSON lacks null.
 */
export function interoperable(value: Json): Json {
  return isInteroperable(value) ? value : nearest(value);
}

/** Nearly every value is: looking costs less than copying. */
function isInteroperable(value: Json | undefined): boolean {
  switch (typeof value) {
    case "string":
      return value.isWellFormed();
    case "number":
      return Number.isFinite(value) && !isUnsafe(value);
    case "object":
      if (value === null) return true;
      return Object.entries(value).every(
        ([name, member]) => name.isWellFormed() && isInteroperable(member),
      );
    default:
      return value !== undefined;
  }
}

function nearest(value: Json): Json {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return null;
    return isUnsafe(value) ? String(value) : value;
  }
  if (Array.isArray(value)) return value.map(nearest);
  if (typeof value !== "object" || value === null) return value;
  // fromEntries defines own members, so a member named __proto__ stays a member.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name.toWellFormed(), nearest(member)]),
  );
}

/**
 * Reads one JSON document and refuses a member that stands twice: readers differ in which one they keep.
 *
 * @throws CanonicalError
 */
export function parseUnambiguous(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw new CanonicalError("not JSON");
  }
  let members = 0;
  forEachNode(value, (node) => {
    if (typeof node === "object" && node !== null && !Array.isArray(node))
      members += Object.keys(node).length;
  });
  if (members !== colonsOutsideStrings(text)) throw new CanonicalError("a member stands twice");
  return value;
}

/** Text is hashed as UTF-8. */
export function sha256Hex(bytes: string | Uint8Array): string {
  return hash("sha256", bytes, "hex");
}

function isUnsafe(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;
}

/** Depth is the caller's choice, so the walk keeps its own stack. */
function forEachNode(root: unknown, visit: (node: unknown) => void): void {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const node = open.pop();
    visit(node);
    if (typeof node !== "object" || node === null) continue;
    for (const member of Object.values(node)) open.push(member);
  }
}

/** In a valid document every member has exactly one colon outside strings. */
function colonsOutsideStrings(text: string): number {
  let colons = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (inString && char === "\\") at++;
    else if (char === '"') inString = !inString;
    else if (char === ":" && !inString) colons++;
  }
  return colons;
}
