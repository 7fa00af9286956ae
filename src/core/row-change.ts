import { addedViolation, hygieneRefusal, type Violation } from "./hygiene.ts";
import type { Refusal } from "./failure.ts";
import type { JsonObject } from "./json.ts";
import {
  completeRow,
  invalidType,
  parseRowInput,
  PATCHABLE,
  refuseKey,
  WRITABLE,
} from "./row-input.ts";
import type { RowValues } from "./row-input.ts";
import { keySpellings, type Row } from "./row.ts";

/** What somebody asks for; `body` is the request's JSON object. */
export type ChangeRequest =
  | { action: "create" | "put" | "patch"; key: string; body: JsonObject }
  | { action: "delete"; key: string }
  | { action: "rollback"; key: string; version: number };

/** A wish to change one row. `body` is what the API takes; `state` is a row as its history keeps it. */
export type RowChange =
  | { action: "create"; body: JsonObject }
  | { action: "put"; body: JsonObject }
  | { action: "patch"; body: JsonObject }
  | { action: "delete" }
  | { action: "rollback"; state: Row };

/** The row under a key now, and the number of its last state; 0 when nothing was ever written here. */
export interface Current {
  key: string;
  row: Row | null;
  version: number;
}

/** What a change comes to: the next row (null: none), or why not. */
export type Decision =
  | { ok: true; row: Row | null; ignored: string[] }
  | { ok: false; refusal: Refusal };

export interface DecisionFacts {
  now: string;
  violations(row: Row): Violation[];
}

/** A row of 1 MB leaves room, within the 2 MB of a stored value, for an event that holds the row. */
export const MAX_ROW_BYTES = 1_000_000;

export function notFound(): Refusal {
  return { status: 404, error: "not_found", hint: "" };
}

/** The next state of a row; nothing here reads or writes. */
export function decideChange(current: Current, change: RowChange, facts: DecisionFacts): Decision {
  const badKey = refuseKey(current.key);
  if (badKey && (change.action === "create" || change.action === "put" || !current.row))
    return refuse(badKey);
  switch (change.action) {
    case "create":
      return current.row ? refuse(keyExists(current.key)) : whole(current, change.body, facts);
    case "put":
      return namesAnother(change.body, current.key)
        ? refuse(keyMismatch(current.key))
        : whole(current, change.body, facts);
    case "patch":
      return patch(current, change.body, facts);
    case "delete":
      return current.row ? { ok: true, row: null, ignored: [] } : refuse(notFound());
    case "rollback":
      return settle(current, change.state, [], facts, false);
  }
}

function whole(current: Current, body: JsonObject, facts: DecisionFacts): Decision {
  const input = parseRowInput(body, WRITABLE);
  if (!input.ok) return input;
  const { type } = input.values;
  if (type === undefined) return refuse(invalidType());
  const ignored = input.ignored.filter((name) => name !== "key");
  return settle(current, completeRow({ ...input.values, type }), ignored, facts, true);
}

/** A body that was read from one key and is sent to another is a slip of the sender. */
function namesAnother(body: JsonObject, key: string): boolean {
  return (
    body.key !== undefined &&
    !(typeof body.key === "string" && keySpellings(body.key).includes(key))
  );
}

function patch(current: Current, body: JsonObject, facts: DecisionFacts): Decision {
  if (!current.row) return refuse(notFound());
  const input = parseRowInput(body, PATCHABLE);
  if (!input.ok) return input;
  if (Object.keys(input.values).length === 0) {
    return refuse({ status: 400, error: "no recognized fields", hint: "" });
  }
  return settle(current, { ...current.row, ...input.values }, input.ignored, facts, false);
}

function settle(
  current: Current,
  values: RowValues & { created_at?: string | null },
  ignored: string[],
  facts: DecisionFacts,
  strict: boolean,
): Decision {
  const created = current.row ? current.row.created_at : (values.created_at ?? facts.now);
  const row = arrange({ ...values, key: current.key, updated_at: facts.now, created_at: created });
  const bytes = Buffer.byteLength(JSON.stringify(row));
  if (bytes > MAX_ROW_BYTES) return refuse(rowTooLarge(bytes));
  const before = strict || !current.row ? [] : facts.violations(current.row);
  const added = addedViolation(before, facts.violations(row));
  return added ? refuse(hygieneRefusal(added)) : { ok: true, row, ignored };
}

/** The columns in the table's order and no other member, whatever the values came with. */
function arrange(row: Row): Row {
  return {
    key: row.key,
    type: row.type,
    target: row.target,
    auth: row.auth,
    content: row.content,
    updated_at: row.updated_at,
    category: row.category,
    allowed_categories: row.allowed_categories,
    seq: row.seq,
    enabled: row.enabled,
    planner_visible: row.planner_visible,
    planner_rank: row.planner_rank,
    input_schema: row.input_schema,
    examples: row.examples,
    sensitive: row.sensitive,
    runner: row.runner,
    includes: row.includes,
    created_at: row.created_at,
  };
}

function refuse(refusal: Refusal): { ok: false; refusal: Refusal } {
  return { ok: false, refusal };
}

function keyExists(key: string): Refusal {
  return {
    status: 409,
    error: "key_exists",
    hint: "PUT replaces a row, PATCH changes some of its columns.",
    members: { key },
  };
}

function keyMismatch(key: string): Refusal {
  return {
    status: 400,
    error: "invalid_key",
    hint: `The address names ${key} and the body another key: leave key out of the body.`,
  };
}

function rowTooLarge(bytes: number): Refusal {
  return {
    status: 413,
    error: "row_too_large",
    hint: `A row may have at most ${MAX_ROW_BYTES} bytes as JSON; this one has ${bytes}.`,
  };
}
