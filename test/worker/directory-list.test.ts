import { beforeAll, describe, expect, it } from "vitest";
import { COLUMNS } from "../../src/core/row-input.ts";
import { insertRow, makeDirectoryApp, WHAT, type DirectoryApp } from "../support/directory-app.ts";

interface Listed {
  key: string;
  seq: number | null;
  planner_rank: number;
}

let app: DirectoryApp;
const TOTAL = 1_200;

const list = async (
  query = "",
): Promise<{ rows: Listed[]; cursor?: string; [name: string]: unknown }> =>
  (await app.call("GET", `/api/directory${query}`)).body;

beforeAll(async () => {
  app = makeDirectoryApp();
  const insert = app.db.prepare(
    "insert into directory (key, type, target, content, category, seq, enabled, planner_visible, planner_rank, updated_at) values (?, ?, 'echo', ?, ?, ?, ?, ?, ?, '2026')",
  );
  // Every tenth row has a seq, from a few values, so that ties are broken by rank and key.
  const rows = Array.from({ length: TOTAL }, (_, index) => [
    `R_${(index * 7919) % TOTAL}`,
    ["fn", "http", "agent", "flow"][index % 4]!,
    `${WHAT} ${index}`,
    index % 3 === 0 ? null : `c${index % 3}`,
    index % 10 === 0 ? index % 50 : null,
    index % 6 === 0 ? 0 : 1,
    index % 5 === 0 ? 0 : 1,
    100 - (index % 4),
  ]);
  await app.db.batch(rows.map((row) => insert.bind(...row)));
});

describe("the list", () => {
  it("shows rows, the four counts and the schema of a row", async () => {
    const body = await list();
    expect(Object.keys(body)).toEqual(["rows", "counts", "schema", "cursor"]);
    expect(body.rows).toHaveLength(100);
    expect(body.schema).toEqual(COLUMNS.map((column) => ({ ...column })));
    expect(Object.keys(body.rows[0]!)).toEqual(COLUMNS.map(({ name }) => name));
  });

  it("pages through all rows in the canonical order, each once, whatever is written meanwhile", async () => {
    const seen: Listed[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(`?limit=250${cursor ? `&cursor=${cursor}` : ""}`);
      seen.push(...page.rows);
      cursor = page.cursor;
      // A row before the cursor: an offset would now repeat one.
      await insertRow(app.db, {
        key: `A_${seen.length}`,
        type: "fn",
        content: WHAT,
        seq: -1,
        enabled: 0,
      });
    } while (cursor);
    await app.db.prepare("delete from directory where seq = -1").run();
    expect(new Set(seen.map(({ key }) => key)).size).toBe(TOTAL);
    expect(seen).toHaveLength(TOTAL);
    const sorted = seen.toSorted(
      (a, b) =>
        Number(a.seq === null) - Number(b.seq === null) ||
        (a.seq ?? 0) - (b.seq ?? 0) ||
        a.planner_rank - b.planner_rank ||
        (a.key < b.key ? -1 : 1),
    );
    expect(seen).toEqual(sorted);
    for (const place of [0, 119, 120, 700, TOTAL - 1]) {
      const { row_num } = (await app.call("GET", `/api/directory/${seen[place]!.key}`)).body;
      expect(row_num).toBe(place + 1);
    }
  });

  it("filters by type, category, enabled and text together", async () => {
    const fits = async (query: string): Promise<number> =>
      (await list(`?limit=500&${query}`)).rows.length;
    expect(await fits("type=http")).toBe(300);
    expect(await fits("category=c1")).toBe(400);
    expect(await fits("category=")).toBe(400);
    expect(await fits("enabled=0")).toBe(200);
    expect(await fits("enabled=false&type=fn")).toBe(100);
    expect(await fits("q=r_119")).toBe(11);
    expect(await fits("q=SOMETHING+SMALL+119")).toBe(11);
    expect(await fits(`q=${"x".repeat(500)}`)).toBe(0);
    expect(await fits(`q=${encodeURIComponent("%")}`)).toBe(0);
    expect(await fits("q=天気")).toBe(0);
  });

  it.each([
    ["limit=0", "invalid_field"],
    ["limit=501", "invalid_field"],
    ["limit=x", "invalid_field"],
    ["enabled=maybe", "invalid_field"],
    ["type=cron", "invalid_type"],
    ["cursor=x", "invalid_cursor"],
    ["cursor=", "invalid_cursor"],
    [`cursor=${btoa('["a",1,2,3]')}`, "invalid_cursor"],
  ])("%s is 400 %s", async (query, error) => {
    const answer = await app.call("GET", `/api/directory?${query}`);
    expect([answer.status, answer.body.error]).toEqual([400, error]);
  });
});

describe("the four counts", () => {
  it("follow four predicates, test-shaped keys by their exact shape", async () => {
    const keys = ["ZZ_TEST_A", "__B", "C_TEST", "ZZxTESTx", "_D", "ETEST", "xx_F", "A_TESTS"];
    for (const key of keys) await insertRow(app.db, { key, type: "fn", content: WHAT });
    await insertRow(app.db, { key: "ZZ_TEST_OFF", type: "fn", enabled: 0 });
    await insertRow(app.db, { key: "HIDDEN_TEST", type: "fn", planner_visible: 0 });
    await insertRow(app.db, {
      key: "NULLS",
      type: "fn",
      enabled: null,
      planner_visible: null,
      planner_rank: null,
    });
    const counts = (await list()).counts;
    expect(counts).toEqual({
      rows_total: TOTAL + 11,
      enabled: 1_000 + 10,
      registry: 1_000 + 6,
      mcp_projected: 800 + 9,
    });
    expect(await app.directory.counts()).toEqual(counts);
    expect((await app.call("GET", "/api/directory/NULLS")).body.row).toMatchObject({
      enabled: 1,
      planner_visible: 1,
      planner_rank: 100,
    });

    const registry = await app.directory.registry({ limit: 500 });
    expect(registry).toMatchObject({ ok: true, count: 1_006 });
    const map = await app.directory.map();
    expect(map.total).toBe(1_010);
    expect(map.categories.map(({ category }) => category)).toEqual([null, "c1", "c2"]);
    expect(await app.directory.registry({ category: "c1" })).toMatchObject({
      count: map.categories[1]!.count,
    });
  });
});
