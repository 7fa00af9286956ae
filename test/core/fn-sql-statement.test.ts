import { describe, expect, it } from "vitest";
import { readStatement } from "../../src/core/sql-statement.ts";

const reasonOf = (sql: string): string | null => {
  const read = readStatement(sql);
  return read.ok ? null : read.reason;
};

describe("a statement", () => {
  it("may end in one semicolon and white space, which are taken off", () => {
    expect(readStatement("select 1 ;\n ")).toEqual({ ok: true, sql: "select 1 " });
    expect(readStatement("-- why\nselect 1 -- end")).toEqual({
      ok: true,
      sql: "-- why\nselect 1 -- end",
    });
  });

  it("may hold semicolons in quotes and comments", () => {
    const sqls = [
      "select ';', 'it''s; so' from t",
      'select ";" from t',
      "select `;`, [;] from t",
      "select 1 /* ; ' */ + 2",
      "select 1 -- ; '\n + 2",
      "with a as (select ';') select * from a",
      "values (';')",
      " \n/**/ SELECT ';'",
    ];
    for (const sql of sqls) expect(readStatement(sql), sql).toEqual({ ok: true, sql });
  });

  it("has nothing behind a top-level semicolon, however it hides", () => {
    const sqls = [
      "select 1; delete from t",
      "select 1;;",
      "select 1; -- x",
      "select 1;/**/",
      "select '''';delete from t --'",
      'select "a""";delete from t --"',
      "select [a]]];delete from t",
      "select 1 /* ' */;delete from t --'",
      "select 1 -- '\n;delete from t --'",
      "select 1 /*/ ; */;delete from t",
      "select 1 --\r'\n;delete from t",
      ";select 1; select 2",
    ];
    for (const sql of sqls) expect(reasonOf(sql), sql).toBe("more_than_one_statement");
  });

  it("does not open a quote where SQLite sees a Tcl parameter", () => {
    for (const sign of ["$x", "@x", ":x", "#x"]) {
      expect(reasonOf(`select ${sign}('),1;delete from t --'`), sign).toMatch(/^named_parameter/);
    }
  });

  it("ends its quotes and comments, holds no NUL, and is not empty", () => {
    for (const sql of ["select 'a", 'select "a', "select `a", "select [a", "select 'a''"]) {
      expect(reasonOf(sql), sql).toBe("unterminated_quote");
    }
    for (const sql of ["select 1 /* ; ", "select 1 /*/"])
      expect(reasonOf(sql), sql).toBe("unterminated_comment");
    expect(reasonOf("select 1\0;delete from t")).toBe("character_nul");
    for (const sql of ["", "  ", ";", "-- only", "/* only */"])
      expect(reasonOf(sql), sql).toBe("empty_statement");
  });

  it("begins like a query", () => {
    const sqls = [
      "insert into t values (1)",
      "pragma case_sensitive_like=on",
      "/* x */ PRAGMA foreign_keys",
      "attach 'x' as y",
      "vacuum",
      "explain select 1",
      "delete from t",
      "replace into t values (1)",
      "begin",
      "selects",
      "(select 1)",
      "reindex",
    ];
    for (const sql of sqls) expect(reasonOf(sql), sql).toBe("not_read_only");
  });

  it("is read in a moment, whatever 100 KB hold", () => {
    for (const unit of ["'", '"', "[", "/*", "--", "/* */", "-- \n", "''", "select ", "-", "/"]) {
      const startMs = performance.now();
      readStatement(unit.repeat(100_000 / unit.length));
      expect(performance.now() - startMs, unit).toBeLessThan(1_000);
    }
  });
});
