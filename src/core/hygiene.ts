import { credentialIn } from "./credential-shapes.ts";
import { parseDocstring, type Docstring } from "./docstring.ts";
import type { Refusal } from "./failure.ts";
import { readJson } from "./json-text.ts";
import { isJsonObject } from "./json.ts";
import type { Row } from "./row.ts";

export type HygieneRule =
  | "missing_description"
  | "high_risk_missing_schema"
  | "invalid_schema"
  | "invalid_examples"
  | "invalid_target"
  | "invalid_auth"
  | "secret_in_row";

/** One rule that one column breaks. A PATCH compares these pairs before and after. */
export interface Violation {
  rule: HygieneRule;
  column: keyof Row;
  how_to_fix: string;
}

/** Readers of the columns that have a grammar of their own; each says why a text is refused, or null. */
export interface Grammars {
  target(target: string): string | null;
  flow(payload: string): string | null;
  schema(value: unknown): string | null;
  auth(auth: string): string | null;
}

/** Every rule of SPEC §2 that the row breaks, in the order in which the rules are written there. */
export function violations(row: Row, grammars: Grammars): Violation[] {
  const doc = parseDocstring(row.content);
  return [
    ...description(doc),
    ...highRisk(row),
    ...schema(row, grammars),
    ...examples(row),
    ...target(row, doc, grammars),
    ...auth(row, grammars),
    ...secrets(row),
  ];
}

/**
 * A whole row must be clean. A change of a row that was not clean before (it came by SQL) is refused only
 * for what the change adds, so that such a row stays editable.
 */
export function addedViolation(before: Violation[], after: Violation[]): Violation | null {
  const known = new Set(before.map(({ rule, column }) => `${rule} ${column}`));
  return after.find(({ rule, column }) => !known.has(`${rule} ${column}`)) ?? null;
}

export function hygieneRefusal(violation: Violation): Refusal {
  return {
    status: 422,
    error: `registry_hygiene_refused: ${violation.rule}`,
    hint: "",
    members: { how_to_fix: violation.how_to_fix, state_changed: false },
  };
}

function description(doc: Docstring): Violation[] {
  if (doc.what !== "") return [];
  return [
    {
      rule: "missing_description",
      column: "content",
      how_to_fix:
        "Begin content with a line such as `# WHAT: what this row does, in one sentence`.",
    },
  ];
}

function highRisk(row: Row): Violation[] {
  if (row.sensitive !== 1 || filled(row.input_schema) !== null) return [];
  return [
    {
      rule: "high_risk_missing_schema",
      column: "input_schema",
      how_to_fix:
        "A sensitive row needs input_schema: a JSON Schema object that names its arguments.",
    },
  ];
}

function schema(row: Row, grammars: Grammars): Violation[] {
  const text = filled(row.input_schema);
  if (text === null) return [];
  const value = readJson(text);
  const why = isJsonObject(value) ? grammars.schema(value) : "it is not a JSON object";
  if (why === null) return [];
  return [
    {
      rule: "invalid_schema",
      column: "input_schema",
      how_to_fix: `input_schema must be one JSON Schema object such as {"type":"object","properties":{}}: ${why}.`,
    },
  ];
}

function examples(row: Row): Violation[] {
  const text = filled(row.examples);
  if (text === null) return [];
  const value = readJson(text);
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return [];
  return [
    {
      rule: "invalid_examples",
      column: "examples",
      how_to_fix: 'examples must be a JSON array of argument strings such as ["52.5|13.4"].',
    },
  ];
}

function target(row: Row, doc: Docstring, grammars: Grammars): Violation[] {
  if (row.type === "http") {
    const why = grammars.target(row.target ?? "");
    if (why === null) return [];
    const how_to_fix = `target must be \`METHOD url\`, then optional \`Name: value\` header lines: ${why}.`;
    return [{ rule: "invalid_target", column: "target", how_to_fix }];
  }
  if (row.type === "flow") {
    const why = grammars.flow(doc.payload);
    if (why === null) return [];
    const how_to_fix = `The payload of a flow is steps \`KEY: body\` separated by >, at most 100: ${why}.`;
    return [{ rule: "invalid_target", column: "content", how_to_fix }];
  }
  return [];
}

function auth(row: Row, grammars: Grammars): Violation[] {
  const text = filled(row.auth);
  const why = text === null ? null : grammars.auth(text);
  if (why === null) return [];
  return [
    {
      rule: "invalid_auth",
      column: "auth",
      how_to_fix:
        'auth is empty or one of bearer:NAME, basic:NAME, headers:{"k":"$NAME"}, query:param=NAME, oauth:NAME, ' +
        `where NAME is a secret of this deployment that rowcall does not keep for itself: ${why}.`,
    },
  ];
}

/** In any text column: a row is shown, listed, exported and kept for ever. */
function secrets(row: Row): Violation[] {
  return (Object.keys(row) as (keyof Row)[]).flatMap((column) => {
    const value = row[column];
    const what = typeof value === "string" ? credentialIn(value) : null;
    if (what === null) return [];
    const how_to_fix =
      `The column ${column} holds what looks like ${what}. Store the value with \`wrangler secret put NAME\` ` +
      "and write only its NAME in auth; then treat the value that was sent here as known to others.";
    return [{ rule: "secret_in_row", column, how_to_fix } satisfies Violation];
  });
}

/** A column of white space says nothing, as null does. */
function filled(text: string | null): string | null {
  return text === null || text.trim() === "" ? null : text;
}
