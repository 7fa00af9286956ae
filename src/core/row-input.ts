import { z } from "zod";
import type { Refusal } from "./failure.ts";
import { parseExact } from "./json-text.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import { isRowType, KEY_PATTERN, ROW_TYPES, type Row, type RowType } from "./row.ts";

/** Rows of one page of a list, unless the caller says otherwise, and at most. */
export const LIST_LIMIT = 100;
export const MAX_LIST_LIMIT = 500;

/** What a column holds when a write does not name it, or names it null. */
const DEFAULTS = {
  target: null,
  auth: null,
  content: null,
  category: null,
  allowed_categories: null,
  seq: null,
  enabled: 1,
  planner_visible: 1,
  planner_rank: 100,
  input_schema: null,
  examples: null,
  sensitive: 0,
  runner: null,
  includes: null,
} satisfies Partial<Row>;

/** One column of the table as the API shows it, so that a client learns a row's shape from an answer. */
export interface Column {
  name: keyof Row;
  type: "text" | "integer";
  /** What stands there when a write does not name the column. */
  default: string | number | null;
  meaning: string;
}

function column(name: keyof Row, type: Column["type"], meaning: string): Column {
  return {
    name,
    type,
    default: name in DEFAULTS ? DEFAULTS[name as keyof typeof DEFAULTS] : null,
    meaning,
  };
}

/** SPEC §1, in the order of the table. */
export const COLUMNS: readonly Column[] = [
  column(
    "key",
    "text",
    "Name of the row, required: a letter or _, then up to 127 letters, digits, _ . or -",
  ),
  column(
    "type",
    "text",
    `Required, one of ${ROW_TYPES.join(", ")}: decides how target and content are read`,
  ),
  column(
    "target",
    "text",
    "fn: a function name. http: METHOD url, then header lines. agent: a model id. flow: empty",
  ),
  column(
    "auth",
    "text",
    "How to apply a credential and the NAME of the secret, such as bearer:NAME; never a value",
  ),
  column(
    "content",
    "text",
    "Lines beginning with # document the row (# WHAT: is required); the rest is the payload",
  ),
  column("updated_at", "text", "ISO 8601 UTC, set by every write"),
  column("category", "text", "Label under which rows are grouped"),
  column(
    "allowed_categories",
    "text",
    "agent: comma-separated categories its tools are limited to, or *; empty is none",
  ),
  column("seq", "integer", "Pins a position in the canonical order, ascending; null comes last"),
  column("enabled", "integer", "0 hides the row from every projection and from invocation"),
  column(
    "planner_visible",
    "integer",
    "0 keeps it callable by key and out of ask, planners and per-row MCP",
  ),
  column("planner_rank", "integer", "Breaks ties between rows; lower wins"),
  column(
    "input_schema",
    "text",
    "JSON Schema of the named arguments; an object is taken as its text",
  ),
  column(
    "examples",
    "text",
    "JSON array of worked argument strings; an array is taken as its text",
  ),
  column(
    "sensitive",
    "integer",
    "1 sends every call through the watcher; set by POST and PUT only",
  ),
  column("runner", "text", "Overrides the runner inferred from type; set by POST and PUT only"),
  column(
    "includes",
    "text",
    "agent: comma-separated keys whose payload is composed in front of content",
  ),
  column("created_at", "text", "ISO 8601 UTC, set once"),
];

/** UTF-8 cannot hold a lone surrogate: stored and remembered text would differ. */
const text = z
  .string("must be a string or null")
  .transform((value) => value.toWellFormed())
  .nullable();

const jsonText = z.preprocess(
  (value) => (typeof value === "object" && value !== null ? JSON.stringify(value) : value),
  z
    .string("must be JSON text, an object, an array or null")
    .transform((value) => value.toWellFormed())
    .nullable(),
);

const whole = z.int("must be a whole number or null");

const orDefault = (standard: number, inner: z.ZodType<number>) =>
  z.preprocess((value) => (value === null ? standard : value), inner);

const flag = (standard: number) =>
  orDefault(
    standard,
    z.preprocess(
      (value) => (typeof value === "boolean" ? Number(value) : value),
      z.union([z.literal(0), z.literal(1)], "must be 0, 1, true or false"),
    ),
  );

/** What a body may say of a row besides its key. */
const fields = z.object({
  type: z.custom<RowType>(isRowType),
  target: text,
  auth: text,
  content: text,
  category: text,
  allowed_categories: text,
  seq: whole.nullable(),
  enabled: flag(DEFAULTS.enabled),
  planner_visible: flag(DEFAULTS.planner_visible),
  planner_rank: orDefault(DEFAULTS.planner_rank, whole),
  input_schema: jsonText,
  examples: jsonText,
  sensitive: flag(DEFAULTS.sensitive),
  runner: text,
  includes: text,
});

export type RowValues = z.output<typeof fields>;
export type WritableColumn = keyof RowValues;

/** POST and PUT set every one of these, in the table's order. */
export const WRITABLE = Object.keys(fields.shape) as readonly WritableColumn[];

/** `sensitive` and `runner` change how a call is judged: they change by a whole row only. */
export const PATCHABLE: readonly WritableColumn[] = WRITABLE.filter(
  (name) => name !== "sensitive" && name !== "runner",
);

const shape = fields.partial();

export type RowInput =
  | { ok: true; values: Partial<RowValues>; ignored: string[] }
  | { ok: false; refusal: Refusal };

/** Takes the members of a body that `writable` names; others are listed, so that a misspelt one shows. */
export function parseRowInput(body: JsonObject, writable: readonly WritableColumn[]): RowInput {
  const names = Object.keys(body);
  const taken = writable.filter((name) => Object.hasOwn(body, name));
  const ignored = names.filter((name) => !writable.some((column) => column === name));
  const parsed = shape.safeParse(Object.fromEntries(taken.map((name) => [name, body[name]])));
  if (parsed.success) return { ok: true, values: parsed.data, ignored };
  const issue = parsed.error.issues[0]!;
  const field = String(issue.path[0]);
  if (field === "type") return { ok: false, refusal: invalidType() };
  return {
    ok: false,
    refusal: {
      status: 400,
      error: "invalid_field",
      hint: `The column ${field} ${issue.message}.`,
      members: { field, rule: issue.message },
    },
  };
}

/** The row that a whole body describes: what it does not name takes its default. */
export function completeRow(values: Partial<RowValues> & { type: RowType }): RowValues {
  return { ...DEFAULTS, ...values };
}

/** @returns the refusal of a text that is no key, else null. */
export function refuseKey(key: unknown): Refusal | null {
  if (typeof key === "string" && KEY_PATTERN.test(key)) return null;
  return {
    status: 400,
    error: "invalid_key",
    hint: "A key is a letter or _, then up to 127 letters, digits, _ . or -",
  };
}

export function invalidType(): Refusal {
  return {
    status: 400,
    error: "invalid_type",
    hint: `type must be one of ${ROW_TYPES.join(", ")}.`,
  };
}

/** A request's text as the JSON object that every write takes. */
export function parseObject(
  json: string,
): { ok: true; body: JsonObject } | { ok: false; refusal: Refusal } {
  const refuse = (why: string): { ok: false; refusal: Refusal } => ({
    ok: false,
    refusal: {
      status: 400,
      error: "invalid_json",
      hint: `The request body must be a JSON object: ${why}.`,
    },
  });
  try {
    const value = parseExact(json);
    return isJsonObject(value) ? { ok: true, body: value } : refuse("it is another JSON value");
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}
