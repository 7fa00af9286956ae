import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../../src/core/json.ts";
import { fn } from "../../src/runners/fn.ts";
import { runContext } from "../support/run-context.ts";

const { DB } = env;

async function query(sql: string, params?: string): Promise<Json> {
  const input = { kind: "pieces" as const, pieces: params === undefined ? [sql] : [sql, params] };
  const row = { target: "d1_query", content: '["$1","$2"]' };
  return (await fn.run(runContext({ row, input, stores: { db: DB } }))).result;
}

beforeAll(async () => {
  await DB.batch([
    DB.prepare("create table t (id integer primary key, name text, data blob)"),
    DB.prepare(
      "insert into t values (1, 'one', x'00ff'), (2, 'it''s; two', null), (3, null, null)",
    ),
    DB.prepare("create table big (id integer, note any)"),
    DB.prepare(
      "insert into big values (9007199254740993, 'a'), (-9223372036854775808, 1.5), (7, 1e300)",
    ),
    DB.prepare("create virtual table notes using fts5(body, tokenize='porter unicode61')"),
    DB.prepare("insert into notes values ('sending an invoice'), ('weather')"),
    DB.prepare("create virtual table grams using fts5(body, tokenize='trigram')"),
    DB.prepare("insert into grams values ('abcdef')"),
    DB.prepare("create view v as select id from t"),
  ]);
});

describe("d1_query reads", () => {
  it("rows with bound parameters", async () => {
    expect(
      await query(
        "select id, name from t where id >= ? and name is not ? order by id desc",
        '[1,"one"]',
      ),
    ).toEqual({
      rows: [
        { id: 3, name: null },
        { id: 2, name: "it's; two" },
      ],
      truncated: false,
    });
    expect(await query("select ?1 a, ?2 b, ?1 c, ?3 d", '["x",null,true]')).toEqual({
      rows: [{ a: "x", b: null, c: "x", d: 1 }],
      truncated: false,
    });
  });

  it("by every kind of query, comments and a last semicolon included", async () => {
    const rows = { rows: [{ id: 1 }], truncated: false };
    const sqls = [
      "select id from t where id = 1;",
      "with a as (select id from t) select id from a limit 1 -- ;",
      "-- ;'\nselect id from v where id < 2 /* ; */",
      "select id from t where id in (values (1))",
      "with recursive n(id) as (select 1 union all select id + 1 from n) select id from n limit 1",
    ];
    for (const sql of sqls) expect(await query(sql), sql).toEqual(rows);
    expect(await query("values (1, 'a')")).toEqual({
      rows: [{ column1: 1, column2: "a" }],
      truncated: false,
    });
  });

  it("names as they were chosen, in the order that was asked for", async () => {
    expect(await query('select count(*), max(id) as "a ""b" from t')).toEqual({
      rows: [{ "count(*)": 3, 'a "b': 3 }],
      truncated: false,
    });
    const { rows } = (await query("select id from t order by name desc, id")) as {
      rows: { id: number }[];
    };
    expect(rows.map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  it("full-text tables, with their functions", async () => {
    expect(
      await query(
        "select highlight(notes, 0, '<', '>') h, bm25(notes) < 0 b from notes where notes match ? order by rank",
        '["invoices"]',
      ),
    ).toEqual({
      rows: [{ h: "sending an <invoice>", b: 1 }],
      truncated: false,
    });
    expect(await query("select body from grams where grams match 'bcd'")).toEqual({
      rows: [{ body: "abcdef" }],
      truncated: false,
    });
  });

  it("the schema, as a table", async () => {
    expect(await query("select name from pragma_table_info('t') limit 1")).toEqual({
      rows: [{ name: "id" }],
      truncated: false,
    });
    expect(await query("select count(*) n from sqlite_master where name = 't'")).toEqual({
      rows: [{ n: 1 }],
      truncated: false,
    });
  });

  it("blobs as base64 and integers beyond 2^53 digit for digit", async () => {
    expect(await query("select data from t where id = 1")).toEqual({
      rows: [{ data: "base64:application/octet-stream:AP8=" }],
      truncated: false,
    });
    expect(await query("select id, note from big order by rowid")).toEqual({
      rows: [
        { id: "9007199254740993", note: "a" },
        { id: "-9223372036854775808", note: 1.5 },
        { id: 7, note: 1e300 },
      ],
      truncated: false,
    });
  });

  it("at most 500 rows, and stops a query without an end there", async () => {
    const numbers =
      "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n";
    const endless = (await query(numbers)) as { rows: unknown[]; truncated: boolean };
    expect([endless.rows.length, endless.truncated]).toEqual([500, true]);
    const exact = (await query(`${numbers} limit 500`)) as { rows: unknown[]; truncated: boolean };
    expect([exact.rows.length, exact.truncated]).toEqual([500, false]);
  });

  it("at most 256 KiB", async () => {
    const wide = (await query(
      "with recursive n(i) as (select 1 union all select i + 1 from n limit 100) select i, hex(zeroblob(5000)) h from n",
    )) as {
      rows: unknown[];
      truncated: boolean;
    };
    expect(wide.truncated).toBe(true);
    expect(wide.rows).toHaveLength(26);
    expect(await query("select hex(zeroblob(200000)) h")).toEqual({ rows: [], truncated: true });
  });
});

describe("d1_query refuses", () => {
  const untouched = async () =>
    expect(await DB.prepare("select count(*) n from t").first("n")).toBe(3);

  it("whatever writes, in any disguise", async () => {
    const sqls = [
      "delete from t",
      "insert into t (id) values (9) returning id",
      "with a as (select 1) delete from t",
      "with a as (select 9) insert into t (id) select * from a returning *",
      "with a as (select 1) update t set name = 'x' returning *",
      "replace into t (id) values (1)",
      "create table u (a)",
      "drop table t",
      "alter table t add column z",
      "PRAGMA case_sensitive_like = on",
      "/* */ pragma table_info(t)",
      "attach ':memory:' as m",
      "vacuum",
      "reindex",
      "analyze",
      "begin",
      "savepoint s",
      "insert into notes(notes) values ('optimize')",
      "explain delete from t",
    ];
    for (const sql of sqls) expect(await query(sql), sql).toBe("ERR:d1:not_read_only");
    await untouched();
  });

  it("a second statement, in any disguise", async () => {
    const sqls = [
      "select 1; delete from t",
      "select 1;delete from t;",
      "select ';' ; delete from t",
      "select 1 /* ' */;delete from t --'",
      'select 1 -- "\n;delete from t --"',
      "select '''';delete from t --'",
      "select 1;\n\n-- delete\ndelete from t",
    ];
    for (const sql of sqls) expect(await query(sql), sql).toBe("ERR:d1:more_than_one_statement");
    expect(await query("select $x('),1;delete from t --'")).toMatch(/^ERR:d1:named_parameter/);
    expect(await query("select 1) ; delete from t -- (")).toMatch(/^ERR:d1:/);
    expect(await query("select 1) union select * from (select 2")).toMatch(
      /^ERR:d1:.*syntax error/,
    );
    await untouched();
  });

  it("what SQLite refuses, in its words", async () => {
    expect(await query("select * from nowhere")).toMatch(/^ERR:d1:no such table: nowhere/);
    expect(await query("select")).toMatch(/^ERR:d1:.*incomplete input|^ERR:d1:.*syntax/);
    expect(await query("")).toBe("ERR:d1:empty_statement");
    expect(await query("select ?")).toMatch(/^ERR:d1:.+/);
    expect(await query("select 1", "[1]")).toMatch(/^ERR:d1:.+/);
  });

  it("parameters that are no list of plain values", async () => {
    for (const params of ['{"a":1}', "[[1]]", "5", "oops", "[9007199254740993]"]) {
      expect(await query("select ?", params), params).toMatch(
        /^ERR:fn:bad_arguments:d1_query:params must be /,
      );
    }
    expect(await query(`select '${"x".repeat(100_000)}'`)).toMatch(
      /^ERR:fn:bad_arguments:d1_query:sql must be at most/,
    );
  });
});
