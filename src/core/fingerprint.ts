import type { Operation } from "./call.ts";
import { CanonicalError, rfc8785, sha256Hex } from "./canonical.ts";
import type { Docstring } from "./docstring.ts";
import type { Json } from "./json.ts";
import type { Row } from "./row.ts";

export interface FingerprintFacts {
  operation: Operation;
  /** Fingerprints of what the row includes, null for one that has none; null when it includes nothing. */
  includes: (string | null)[] | null;
}

/**
 * The contract fingerprint (SPEC §6): what a caller relies on, and nothing that only documents it. Members
 * are never left out, so that nobody can mistake "absent" for "null". `runner` is the column as stored: a
 * row that names its type's own runner has said something that a row without one has not.
 */
export function fingerprintOf(row: Row, doc: Docstring, facts: FingerprintFacts): string {
  const isSensitive = row.sensitive === 1;
  return sha256Hex(
    rfc8785({
      key: row.key,
      object: "capability",
      runner: wellFormed(row.runner),
      type: row.type,
      category: wellFormed(row.category),
      target: wellFormed(row.target),
      what: doc.what.toWellFormed(),
      payload: doc.payload.toWellFormed(),
      input_schema: schemaMember(row.input_schema),
      auth: wellFormed(row.auth),
      risk: isSensitive ? "high" : "low",
      approval: isSensitive ? "required" : "none",
      enabled: row.enabled === 1,
      operation: facts.operation,
      includes: facts.includes,
    }),
  );
}

/** The parsed schema; a text that is no JSON, or JSON without an RFC 8785 form (1e999), stands as text. */
function schemaMember(text: string | null): Json {
  if (text === null) return null;
  try {
    const value = JSON.parse(text) as Json;
    rfc8785(value);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof CanonicalError) return text.toWellFormed();
    throw error;
  }
}

/** SQLite holds UTF-8: a lone surrogate would be another character as soon as the row is read again. */
function wellFormed(text: string | null): string | null {
  return text === null ? null : text.toWellFormed();
}
