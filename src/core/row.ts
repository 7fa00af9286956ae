/**
 * A row of the table `directory`: one callable capability. Source: the eighteen columns of the
 * migrations, in this order. Booleans are 0 or 1, as SQLite keeps them.
 */
export interface Row {
  key: string;
  type: RowType;
  target: string | null;
  auth: string | null;
  content: string | null;
  updated_at: string;
  category: string | null;
  allowed_categories: string | null;
  seq: number | null;
  enabled: number;
  planner_visible: number;
  planner_rank: number;
  input_schema: string | null;
  examples: string | null;
  sensitive: number;
  runner: string | null;
  includes: string | null;
  created_at: string | null;
}

export const ROW_TYPES = ["fn", "http", "agent", "flow"] as const;
export type RowType = (typeof ROW_TYPES)[number];

export function isRowType(value: unknown): value is RowType {
  return ROW_TYPES.some((type) => type === value);
}

/** What a key may look like. Upper case is a convention, not a rule. */
export const KEY_PATTERN = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;

/** The spellings under which a key is looked up, in order: exact, then upper-cased. */
export function keySpellings(key: string): string[] {
  const upper = key.toUpperCase();
  return upper === key ? [key] : [key, upper];
}

/** A row together with the number of its state; 0 for a row that came by SQL and was never written here. */
export interface VersionedRow {
  row: Row;
  version: number;
}

/** Keys of rows that exist to try something out; they stay callable and leave the registry view. */
export function isTestShaped(key: string): boolean {
  return key.startsWith("ZZ_TEST_") || key.startsWith("__") || key.endsWith("_TEST");
}
