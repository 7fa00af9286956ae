import { z } from "zod";
import type { Json, JsonObject } from "../../core/json.ts";
import { stringifyExact } from "../../core/json-text.ts";
import { readStatement } from "../../core/sql-statement.ts";
import { boundedText, defineFn, json, messageOf, optional, type FnEntry } from "./entry.ts";

const MAX_ROWS = 500;
const MAX_RESULT_BYTES = 256 * 1024;
/** D1 takes statements up to 100 KB. */
const MAX_SQL_BYTES = 100_000;

type Bindable = string | number | boolean | null;

const bindable = json.pipe(
  z.custom<Bindable[]>(
    (value) =>
      Array.isArray(value) && value.every((item) => item === null || typeof item !== "object"),
    "must be a JSON array of text, numbers (beyond 2^53 as text), booleans and null",
  ),
);

const d1Query = defineFn({
  name: "d1_query",
  summary: "Rows of one reading SQL statement on this deployment's database.",
  operation: "read",
  ownerOnly: true,
  parameters: { sql: boundedText(MAX_SQL_BYTES), params: optional(bindable) },
  async handler({ ports }, { sql, params = [] }) {
    const statement = readStatement(sql);
    if (!statement.ok) return `ERR:d1:${statement.reason}`;
    try {
      return await query(ports.stores.db, statement.sql, params);
    } catch (error) {
      return `ERR:d1:${messageOf(error).replace(/^D1_(?:TYPE_)?ERROR: /, () => "")}`;
    }
  },
});

/**
 * The statement reads only when its program opens no write transaction: EXPLAIN compiles and runs
 * nothing. What then runs is that statement as a subquery with a limit, so that a query without an end
 * stops at the limit where it can; its time is bounded by D1 itself.
 */
async function query(db: D1Database, sql: string, params: Bindable[]): Promise<Json> {
  const program = await db
    .prepare(`EXPLAIN ${sql}`)
    .bind(...params)
    .all<{ opcode: string; p2: number }>();
  const transactions = program.results.filter(({ opcode }) => opcode === "Transaction");
  if (transactions.some(({ p2 }) => p2 !== 0)) return "ERR:d1:not_read_only";
  const limited = (columns: string): D1PreparedStatement =>
    db.prepare(`SELECT ${columns} FROM (${sql}\n) LIMIT ${MAX_ROWS + 1}`).bind(...params);
  let { results } = await limited("*").all<{ [column: string]: unknown }>();
  const inexact = inexactColumns(results);
  if (inexact.size > 0) {
    const columns = Object.keys(results[0]!).map((name) =>
      inexact.has(name) ? exactColumn(name) : quoted(name),
    );
    ({ results } = await limited(columns.join(", ")).all());
  }
  return bounded(results.map(jsonRow));
}

function bounded(rows: JsonObject[]): Json {
  const kept: JsonObject[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, MAX_ROWS)) {
    bytes += Buffer.byteLength(stringifyExact(row)) + 1;
    if (bytes > MAX_RESULT_BYTES) break;
    kept.push(row);
  }
  return { rows: kept, truncated: kept.length < rows.length };
}

/** Columns with whole numbers beyond 2^53: D1 hands those over rounded. */
function inexactColumns(rows: { [column: string]: unknown }[]): Set<string> {
  const isInexact = (value: unknown): boolean =>
    Number.isInteger(value) && !Number.isSafeInteger(value);
  return new Set(rows.flatMap((row) => Object.keys(row).filter((name) => isInexact(row[name]))));
}

/** A 64-bit integer that a JSON number cannot hold comes as text, digit for digit. */
function exactColumn(name: string): string {
  const column = quoted(name);
  const isBig = `typeof(${column}) = 'integer' AND ${column} NOT BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;
  return `CASE WHEN ${isBig} THEN CAST(${column} AS TEXT) ELSE ${column} END AS ${column}`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', () => '""')}"`;
}

/** A blob comes as an array of bytes and leaves like a binary http body. */
function jsonRow(row: { [column: string]: unknown }): JsonObject {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      Array.isArray(value)
        ? `base64:application/octet-stream:${Buffer.from(value).toString("base64")}`
        : (value as Bindable),
    ]),
  );
}

export const d1Functions: readonly FnEntry[] = [d1Query];
