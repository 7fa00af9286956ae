import type { Row } from "./row.ts";
import { COLUMNS } from "./row-input.ts";

export interface Change {
  column: keyof Row;
  old: string | number | null;
  new: string | number | null;
}

/**
 * What differs between two states of one row, in the table's order; null is the state after a deletion.
 * `updated_at` is the stamp of a state, not a part of it, and is left out.
 */
export function diffRows(from: Row | null, to: Row | null): Change[] {
  return COLUMNS.map(({ name }) => ({
    column: name,
    old: from?.[name] ?? null,
    new: to?.[name] ?? null,
  })).filter((change) => change.column !== "updated_at" && change.old !== change.new);
}
