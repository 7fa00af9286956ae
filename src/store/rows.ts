import { sql } from "drizzle-orm";
import { keySpellings, type Row } from "../core/row.ts";
import type { Current } from "../core/row-change.ts";
import { completeRow } from "../core/row-input.ts";
import { directory } from "./schema.ts";

/** The four predicates of SPEC §1 rest on these; a column that SQL left null counts as its default. */
export const isEnabled = sql<number>`coalesce(${directory.enabled}, 1) <> 0`;
export const isPlannerVisible = sql<number>`coalesce(${directory.planner_visible}, 1) <> 0`;
/** No LIKE: `_` is a wildcard there. */
export const isTestShaped = sql<number>`(substr(${directory.key}, 1, 8) = 'ZZ_TEST_' or substr(${directory.key}, 1, 2) = '__' or substr(${directory.key}, -5) = '_TEST')`;

/** The canonical order as one comparable value: seq with nulls last, then planner_rank, then key. */
export const place = sql`(${directory.seq} is null, coalesce(${directory.seq}, 0), coalesce(${directory.planner_rank}, 100), ${directory.key})`;
export const canonicalOrder = [
  sql`${directory.seq} is null`,
  sql`coalesce(${directory.seq}, 0)`,
  sql`coalesce(${directory.planner_rank}, 100)`,
  sql`${directory.key}`,
];

/** The same place as values of one row. */
export function placeOf(row: Row): [number, number, number, string] {
  return [row.seq === null ? 1 : 0, row.seq ?? 0, row.planner_rank, row.key];
}

type Raw = { [column in keyof Row]: Row[column] | null };

/** A row as D1 returns it: what plain SQL left null, or put in as another flag than 0 and 1, is settled. */
export function toRow(raw: Raw): Row {
  const flag = (value: number | null, standard: number): number =>
    value === null ? standard : value === 0 ? 0 : 1;
  const { key, type, updated_at } = raw as Row;
  const standard = completeRow({ type });
  return {
    key,
    type,
    target: raw.target,
    auth: raw.auth,
    content: raw.content,
    updated_at,
    category: raw.category,
    allowed_categories: raw.allowed_categories,
    seq: raw.seq,
    enabled: flag(raw.enabled, standard.enabled),
    planner_visible: flag(raw.planner_visible, standard.planner_visible),
    planner_rank: raw.planner_rank ?? standard.planner_rank,
    input_schema: raw.input_schema,
    examples: raw.examples,
    sensitive: flag(raw.sensitive, standard.sensitive),
    runner: raw.runner,
    includes: raw.includes,
    created_at: raw.created_at,
  };
}

/** By exact key, with the version of its last state even when the row is gone. */
export type States = ReadonlyMap<string, Current>;

const STATES = `
  select wanted.value as wanted, d.*,
    coalesce((select max(v.version) from directory_versions v where v.key = wanted.value), 0) as version
  from json_each(?) wanted left join directory d on d.key = wanted.value`;

/**
 * Rows and versions of these exact keys in one query, so that the two belong together. No key holds a NUL
 * or is longer than 512 characters; SQLite's JSON would cut a text at a NUL and find another row.
 */
export async function readStates(db: D1Database, keys: readonly string[]): Promise<States> {
  const wanted = keys.filter(
    (key) => key.length <= 512 && !key.includes("\0") && key.isWellFormed(),
  );
  const states = new Map<string, Current>(keys.map((key) => [key, { key, row: null, version: 0 }]));
  if (wanted.length === 0) return states;
  const { results } = await db
    .prepare(STATES)
    .bind(JSON.stringify(wanted))
    .all<Raw & { wanted: string; version: number }>();
  for (const raw of results) {
    const row = raw.key === null ? null : toRow(raw);
    states.set(raw.wanted, { key: raw.wanted, row, version: raw.version });
  }
  return states;
}

/** The row that a look-up of `key` finds among `states`: exact, then upper-cased. */
export function pickState(states: States, key: string): Current | null {
  return (
    keySpellings(key)
      .map((spelling) => states.get(spelling))
      .find((state) => state?.row) ?? null
  );
}

/** What stands under `key`. Without a row: the spelling that has a history, if asked, else the exact key. */
export async function findState(
  db: D1Database,
  key: string,
  options: { history: boolean },
): Promise<Current> {
  const states = await readStates(db, keySpellings(key));
  const past = options.history
    ? [...states.values()].find((state) => state.version > 0)
    : undefined;
  return pickState(states, key) ?? past ?? states.get(key)!;
}
