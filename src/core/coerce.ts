import { keptNumber, pointerToken } from "./clean.ts";
import type { Issue } from "./failure.ts";
import type { Json, JsonObject } from "./json.ts";
import { isExactNumber, readJson } from "./json-text.ts";
import { validate } from "./schema.ts";

/**
 * A piece as the value that the schema wants under that name: its text where the schema takes text, else
 * what it reads as in JSON. The schema itself decides, so references and unions need no code of their own.
 */
export function coerce(schema: JsonObject, name: string, piece: string): Json {
  const asText = issuesOf(schema, name, piece);
  if (asText.length === 0) return piece;
  const value = readJson(piece);
  if (value === undefined || typeof value === "string") return piece;
  // Digits that a double does not keep stay as they are here and are refused with all the others.
  const kept = isExactNumber(value) ? keptNumber(value) : value;
  if (isExactNumber(value) && kept === null) return asText.some(isTypeIssue) ? value : piece;
  if (issuesOf(schema, name, kept).length === 0) return kept;
  return asText.some(isTypeIssue) ? kept : piece;
}

export function accepts(schema: JsonObject, name: string, value: Json): boolean {
  return issuesOf(schema, name, value).length === 0;
}

/** What the schema has against this one argument, whatever else is missing. */
function issuesOf(schema: JsonObject, name: string, value: Json): Issue[] {
  const path = `/${pointerToken(name)}`;
  return validate(schema, Object.fromEntries([[name, value]])).filter(
    (issue) => issue.path === path || issue.path.startsWith(`${path}/`),
  );
}

function isTypeIssue(issue: Issue): boolean {
  return issue.keyword === "type";
}
