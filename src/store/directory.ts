import { and, asc, eq, sql, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { z } from "zod";
import { diffRows } from "../core/diff.ts";
import type { Refusal } from "../core/failure.ts";
import type { JsonObject } from "../core/json.ts";
import { notFound, type ChangeRequest } from "../core/row-change.ts";
import { COLUMNS, LIST_LIMIT, parseObject, refuseKey } from "../core/row-input.ts";
import type { Row, RowType } from "../core/row.ts";
import type { Answer, Author, DirectoryWrites } from "../dispatch/ports.ts";
import { refusalAnswer } from "./answer.ts";
import {
  canonicalOrder,
  findState,
  isEnabled,
  isPlannerVisible,
  isTestShaped,
  place,
  placeOf,
  toRow,
} from "./rows.ts";
import { directory } from "./schema.ts";
import { listVersions, readVersion, VERSIONS_PER_PAGE } from "./versions.ts";
import { changeRow, type WriteDeps } from "./write.ts";

export interface ListFilter {
  type?: RowType | undefined;
  /** The empty text stands for rows without a category. */
  category?: string | undefined;
  /** Plain text that key or content holds, whatever its ASCII case. */
  q?: string | undefined;
  enabled?: boolean | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface Counts {
  rows_total: number;
  enabled: number;
  registry: number;
  mcp_projected: number;
}

export interface Page {
  rows: Row[];
  /** Continues the list; null at its end. */
  cursor: string | null;
}

export type Paged<More> = ({ ok: true } & Page & More) | { ok: false; refusal: Refusal };

/** The directory: the API's answers for its routes and functions, and the views that discovery shows. */
export interface Directory extends DirectoryWrites {
  list(filter: ListFilter): Promise<Answer>;
  versions(key: string, before: number | null): Promise<Answer>;
  version(key: string, version: number): Promise<Answer>;
  diff(key: string, from: number, to: number): Promise<Answer>;
  change(request: ChangeRequest, author: Author, ifMatch: string | null): Promise<Answer>;
  /** Rows of the registry view (enabled, not test-shaped); `count` is over all pages. */
  registry(
    filter: Pick<ListFilter, "category" | "limit" | "cursor">,
  ): Promise<Paged<{ count: number }>>;
  /** Enabled rows by category, null for rows without one; `total` is their sum. */
  map(): Promise<{ total: number; categories: { category: string | null; count: number }[] }>;
  counts(): Promise<Counts>;
}

export function makeDirectory(deps: WriteDeps): Directory {
  const { db } = deps;
  const change = (
    request: ChangeRequest,
    author: Author,
    ifMatch: string | null,
  ): Promise<Answer> => changeRow(deps, request, author, ifMatch);
  const write =
    (action: "put" | "patch") =>
    async (key: string, json: string, author: Author): Promise<Answer> => {
      const parsed = parseObject(json);
      return parsed.ok
        ? change({ action, key, body: parsed.body }, author, null)
        : refusalAnswer(parsed.refusal);
    };
  return {
    change,
    put: write("put"),
    patch: write("patch"),
    counts: () => readCounts(db),
    map: () => readMap(db),
    async get(key) {
      const { row, version } = await findState(db, key, { history: false });
      if (!row) return absent(key);
      const [row_num, contract] = await Promise.all([readRowNum(db, row), deps.contractOf(row)]);
      return { status: 200, body: { row: { ...row }, row_num, version, contract }, version };
    },
    async list(filter) {
      const where = and(...conditions(filter));
      const [page, counts] = await Promise.all([readPage(db, where, filter), readCounts(db)]);
      if (!page.ok) return refusalAnswer(page.refusal);
      const body: JsonObject = {
        rows: page.rows.map((row) => ({ ...row })),
        counts: { ...counts },
        schema: COLUMNS.map((column) => ({ ...column })),
      };
      if (page.cursor !== null) body.cursor = page.cursor;
      return { status: 200, body };
    },
    async registry(filter) {
      const where = and(
        isEnabled,
        sql`not ${isTestShaped}`,
        ...conditions({ category: filter.category }),
      );
      const [page, count] = await Promise.all([
        readPage(db, where, filter),
        drizzle(db).$count(directory, where),
      ]);
      return page.ok ? { ...page, count } : page;
    },
    async versions(key, before) {
      const state = await findState(db, key, { history: true });
      if (!state.row && state.version === 0) return absent(key);
      const versions = await listVersions(db, state.key, before);
      const body: JsonObject = { versions };
      if (versions.length === VERSIONS_PER_PAGE) body.cursor = String(versions.at(-1)!.version);
      return { status: 200, body };
    },
    async version(key, number) {
      const state = await findState(db, key, { history: true });
      const found = await readVersion(db, state.key, number);
      if (!found) return absent(key);
      return { status: 200, body: { ...found, row: found.row && { ...found.row } } };
    },
    async diff(key, from, to) {
      const state = await findState(db, key, { history: true });
      const [old, next] = await Promise.all([
        readVersion(db, state.key, from),
        readVersion(db, state.key, to),
      ]);
      if (!old || !next) return absent(key);
      const changes = diffRows(old.row, next.row).map((item) => ({ ...item }));
      return { status: 200, body: { changes, contract_changed: old.contract !== next.contract } };
    },
  };
}

/** A row that SQL gave an odd key is found above; a key that no row has and none could have is a bad one. */
function absent(key: string): Answer {
  return refusalAnswer(refuseKey(key) ?? notFound());
}

function conditions({ type, category, q, enabled }: ListFilter): SQL[] {
  const found: SQL[] = [];
  if (type !== undefined) found.push(eq(directory.type, type));
  if (category !== undefined) found.push(sql`coalesce(${directory.category}, '') = ${category}`);
  if (enabled !== undefined) found.push(enabled ? isEnabled : sql`not (${isEnabled})`);
  // D1 refuses a LIKE pattern of more than 50 bytes, and would take % and _ for wildcards.
  if (q)
    found.push(
      sql`(instr(lower(${directory.key}), lower(${q})) > 0 or instr(lower(${directory.content}), lower(${q})) > 0)`,
    );
  return found;
}

async function readPage(
  db: D1Database,
  where: SQL | undefined,
  { limit = LIST_LIMIT, cursor }: Pick<ListFilter, "limit" | "cursor">,
): Promise<Paged<unknown>> {
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  if (after === null) {
    return {
      ok: false,
      refusal: {
        status: 400,
        error: "invalid_cursor",
        hint: "Send a cursor as an answer gave it.",
      },
    };
  }
  const found = await drizzle(db)
    .select()
    .from(directory)
    .where(
      and(where, after && sql`${place} > (${after[0]}, ${after[1]}, ${after[2]}, ${after[3]})`),
    )
    .orderBy(...canonicalOrder.map((part) => asc(part)))
    .limit(limit + 1);
  const rows = found.slice(0, limit).map((raw) => toRow(raw as Parameters<typeof toRow>[0]));
  return { ok: true, rows, cursor: found.length > limit ? makeCursor(rows.at(-1)!) : null };
}

/** The last row's place, so that rows written meanwhile neither repeat nor hide another. */
function makeCursor(row: Row): string {
  return Buffer.from(JSON.stringify(placeOf(row))).toString("base64url");
}

const cursorShape = z.tuple([z.literal([0, 1]), z.number(), z.number(), z.string()]);

function parseCursor(cursor: string): z.output<typeof cursorShape> | null {
  try {
    return (
      cursorShape.safeParse(JSON.parse(Buffer.from(cursor, "base64url").toString())).data ?? null
    );
  } catch {
    return null;
  }
}

async function readRowNum(db: D1Database, row: Row): Promise<number> {
  const [seqless, seq, rank, key] = placeOf(row);
  return (
    1 + (await drizzle(db).$count(directory, sql`${place} < (${seqless}, ${seq}, ${rank}, ${key})`))
  );
}

async function readCounts(db: D1Database): Promise<Counts> {
  const count = (predicate: SQL) => sql<number>`count(case when ${predicate} then 1 end)`;
  const [counts] = await drizzle(db)
    .select({
      rows_total: sql<number>`count(*)`,
      enabled: count(isEnabled),
      registry: count(sql`${isEnabled} and not ${isTestShaped}`),
      mcp_projected: count(sql`${isEnabled} and ${isPlannerVisible}`),
    })
    .from(directory);
  return counts!;
}

async function readMap(db: D1Database): ReturnType<Directory["map"]> {
  const label = sql<string | null>`nullif(${directory.category}, '')`;
  const categories = await drizzle(db)
    .select({ category: label, count: sql<number>`count(*)` })
    .from(directory)
    .where(isEnabled)
    .groupBy(label)
    .orderBy(asc(label));
  return { categories, total: categories.reduce((sum, { count }) => sum + count, 0) };
}
