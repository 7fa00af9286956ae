import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { completeRow } from "../../src/core/row-input.ts";
import type { Row } from "../../src/core/row.ts";
import { makeAsk, MAX_CANDIDATES } from "../../src/resolver/ask.ts";
import { indexDirty, indexStatements } from "../../src/resolver/index-row.ts";

const db = env.DB;
const ask = makeAsk(db);
const insert = db.prepare(
  "insert into directory (key, type, target, content, updated_at) values (?, 'fn', 'echo', ?, '2026')",
);
const docOf = (what: string): string => `# WHAT: ${what}`;
const keysOf = async (question: string): Promise<string[]> =>
  (await ask(question)).candidates.map(({ row }) => row.key);
const bestOf = async (question: string): Promise<string | undefined> =>
  (await ask(question)).best?.key;

beforeAll(async () => {
  await insert.bind("git_log", docOf("Show the commits of a repository")).run();
});

describe("the index", () => {
  const row = (key: string, change: Partial<Row> = {}): Row =>
    ({ ...completeRow({ type: "fn" }), key, updated_at: "", created_at: null, ...change }) as Row;
  const write = (key: string, content: string): Promise<unknown> =>
    db.batch([
      db
        .prepare(
          "insert into directory (key, type, content, updated_at) values (?, 'fn', ?, '') on conflict (key) do update set content = excluded.content",
        )
        .bind(key, content),
      ...indexStatements(db, key, row(key, { content })),
    ]);
  const dirty = (): Promise<number | null> =>
    db.prepare("select count(*) as n from search_dirty").first<number>("n");

  it("follows a write of the directory in the same batch", async () => {
    await ask("anything");
    await write("ZEBRA", "# WHAT: counts zebras");
    expect(await dirty()).toBe(0);
    expect(await bestOf("zebra stripes")).toBe("ZEBRA");
    await write("ZEBRA", "# WHAT: counts giraffes");
    expect(await bestOf("giraffe")).toBe("ZEBRA");
    expect(await keysOf("stripes")).toEqual([]);
  });

  it("forgets a deleted row", async () => {
    await db.batch([
      db.prepare("delete from directory where key = 'ZEBRA'"),
      ...indexStatements(db, "ZEBRA", null),
    ]);
    expect(await dirty()).toBe(0);
    expect(await keysOf("giraffe")).toEqual([]);
    expect(
      await db.prepare("select count(*) as n from search_rows where key = 'ZEBRA'").first("n"),
    ).toBe(0);
  });

  it("hides what is disabled or out of the planner's sight, and shows it again", async () => {
    await write("HIPPO", "# WHAT: feeds the hippopotamus");
    for (const column of ["enabled", "planner_visible"]) {
      await db.prepare(`update directory set ${column} = 0 where key = 'HIPPO'`).run();
      expect(await keysOf("hippopotamus")).toEqual([]);
      await db.prepare(`update directory set ${column} = null where key = 'HIPPO'`).run();
      expect(await keysOf("hippopotamus")).toEqual(["HIPPO"]);
    }
  });

  it("follows plain SQL at the next question: insert, change, rename, delete", async () => {
    await insert.bind("OKAPI", docOf("an animal of the forest")).run();
    expect(await bestOf("okapi")).toBe("OKAPI");
    await db
      .prepare("update directory set content = '# WHAT: striped legs' where key = 'OKAPI'")
      .run();
    expect(await bestOf("striped legs")).toBe("OKAPI");
    await db.prepare("update directory set key = 'MARMOT' where key = 'OKAPI'").run();
    expect(await keysOf("striped legs")).toEqual(["MARMOT"]);
    await db.prepare("delete from directory where key = 'MARMOT'").run();
    expect(await keysOf("striped legs")).toEqual([]);
    expect(await dirty()).toBe(0);
  });

  it("takes an odd key of plain SQL without touching another row's entry", async () => {
    await insert.bind("git_log\0x", docOf("quokka smiles")).run();
    await insert.bind("two words", docOf("wombat digs")).run();
    expect(await bestOf("wombat")).toBe("two words");
    expect(await keysOf("commits")).toEqual(["git_log"]);
    expect(await dirty()).toBe(0);
    await db
      .prepare("delete from directory where key = 'two words' or instr(key, char(0)) > 0")
      .run();
    expect(await keysOf("commits")).toEqual(["git_log"]);
  });

  it("does not let an old reading replace a newer write", async () => {
    await insert.bind("RACE", docOf("old alpaca")).run();
    const { results } = await db.prepare("select stamp from search_dirty").all<{ stamp: string }>();
    // The row is written anew after its old text was read and before that is settled.
    let isLate = false;
    const slow = {
      prepare: (sql: string) => db.prepare(sql),
      async batch(statements: D1PreparedStatement[]) {
        if (!isLate) await write("RACE", "# WHAT: new vicuna");
        isLate = true;
        return db.batch(statements);
      },
    } as unknown as D1Database;
    await indexDirty(slow, results);
    expect(isLate).toBe(true);
    expect(await keysOf("alpaca")).toEqual([]);
    expect(await keysOf("vicuna")).toEqual(["RACE"]);
  });

  it("orders equal rows by planner_rank, then by key", async () => {
    for (const [key, rank] of [
      ["TIE_B", 100],
      ["TIE_C", 50],
      ["TIE_A", 100],
    ] as const) {
      await insert.bind(key, docOf("narwhal whisper")).run();
      await db.prepare("update directory set planner_rank = ? where key = ?").bind(rank, key).run();
    }
    expect(await keysOf("narwhal whisper")).toEqual(["TIE_C", "TIE_A", "TIE_B"]);
  });

  it("takes a thousand rows of plain SQL at once, and answers at most twelve", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) =>
      insert.bind(`BULK_${index}`, docOf(`handles walrus number w${index} of the herd`)),
    );
    await db.batch(many);
    const { best, candidates } = await ask("walrus w777");
    expect(best?.key).toBe("BULK_777");
    expect(candidates).toHaveLength(MAX_CANDIDATES);
    expect(await dirty()).toBe(0);
    const startMs = performance.now();
    for (let index = 0; index < 20; index++) await ask("walrus herd of the number handles");
    expect(performance.now() - startMs).toBeLessThan(4_000);
  });
});
