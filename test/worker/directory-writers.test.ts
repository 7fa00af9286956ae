import { beforeEach, describe, expect, it } from "vitest";
import { commit } from "../../src/store/mutation-log.ts";
import { makeDirectoryApp, WHAT, type DirectoryApp } from "../support/directory-app.ts";

let app: DirectoryApp;

beforeEach(async () => {
  app = makeDirectoryApp();
  await app.db.batch(
    ["directory", "directory_versions"].map((table) => app.db.prepare(`delete from ${table}`)),
  );
});

const FN = { type: "fn", target: "echo", content: WHAT };
const make = (key: string, more: object = {}) =>
  app.call("POST", "/api/directory", { key, ...FN, ...more });
const patch = (key: string, body: object, headers = {}) =>
  app.call("PATCH", `/api/directory/${key}`, body, headers);
const snapshot = async () =>
  (
    await app.db.batch(
      ["directory", "directory_versions"].map((table) => app.db.prepare(`select * from ${table}`)),
    )
  ).map(({ results }) => results);

describe("If-Match", () => {
  it("with another version is exactly version_conflict, and nothing changes", async () => {
    await make("M");
    const before = await snapshot();
    const calls = [
      ["PATCH", { seq: 1 }],
      ["PUT", FN],
      ["DELETE", undefined],
    ] as const;
    for (const [method, body] of calls) {
      const answer = await app.call(method, "/api/directory/M", body, { "if-match": '"2"' });
      expect([answer.status, answer.body]).toEqual([
        412,
        { error: "version_conflict", current: 1 },
      ]);
    }
    expect(await snapshot()).toEqual(before);
    expect(app.log.events).toHaveLength(1);
  });

  it.each(['"1"', 'W/"1"', "*", '"7", "1"'])(
    "%s lets the write of version 1 pass",
    async (header) => {
      await make("M");
      expect((await patch("M", { seq: 1 }, { "if-match": header })).body.version).toBe(2);
    },
  );

  it("is 412 where a PUT would create the row", async () => {
    expect((await app.call("PUT", "/api/directory/M", FN, { "if-match": "*" })).body).toEqual({
      error: "version_conflict",
      current: 0,
    });
  });
});

describe("two writers at once", () => {
  it("with the same If-Match: exactly one wins, the other is told the version", async () => {
    await make("C");
    let waiting = 0;
    let release: () => void;
    const both = new Promise<void>((resolve) => (release = resolve));
    app.log.onBegin = async () => {
      if (++waiting === 2) release();
      await both;
    };
    const answers = await Promise.all(
      [1, 2].map((seq) => patch("C", { seq }, { "if-match": '"1"' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect(answers.find(({ status }) => status === 412)!.body).toEqual({
      error: "version_conflict",
      current: 2,
    });
    expect(app.log.events).toHaveLength(2);
    expect(app.log.abandoned).toHaveLength(1);
    expect(app.log.pending.size).toBe(0);
  });

  it("without If-Match: both land, one after the other, and no change is lost", async () => {
    await make("C");
    const answers = await Promise.all([
      patch("C", { seq: 7 }),
      patch("C", { category: "x" }),
      patch("C", { examples: ["y"] }),
    ]);
    expect(answers.map(({ body }) => body.version).sort()).toEqual([2, 3, 4]);
    expect((await app.call("GET", "/api/directory/C")).body.row).toMatchObject({
      seq: 7,
      category: "x",
      examples: '["y"]',
    });
  });

  it("creating one key: one is 201, the other 409", async () => {
    const answers = await Promise.all([make("C"), make("C")]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it("a writer that always loses gives up, and says so", async () => {
    await make("C");
    app.log.onBegin = async ({ version }) => {
      await app.db
        .prepare(
          "insert into directory_versions values ('C', ?, 'patch', null, null, 'owner', 'other', 'now')",
        )
        .bind(version)
        .run();
    };
    expect(await patch("C", { seq: 1 })).toMatchObject({
      status: 503,
      body: { error: "write_contention" },
    });
    expect(app.log.abandoned).toHaveLength(5);
  });
});

describe("a write that fails in the middle", () => {
  it("leaves nothing changed and no intent when D1 refuses the batch", async () => {
    await make("F");
    const before = await snapshot();
    app.log.onBegin = async () =>
      void (await app.db.exec("alter table directory rename to hidden"));
    await expect(
      app.directory.change({ action: "delete", key: "F" }, author, null),
    ).rejects.toThrow(/no such table/);
    await app.db.exec("alter table hidden rename to directory");
    expect(await snapshot()).toEqual(before);
    expect([app.log.pending.size, app.log.abandoned.length]).toEqual([0, 1]);
  });

  it("keeps the intent for the ledger to settle when the confirmation is lost after the batch", async () => {
    app.log.confirm = async () => Promise.reject(new Error("the ledger is away"));
    await expect(app.directory.put("F", JSON.stringify(FN), author)).rejects.toThrow(/away/);
    expect(app.log.pending.size).toBe(1);
    const { receipt_id } = (await app.db
      .prepare("select receipt_id from directory_versions where key = 'F'")
      .first())!;
    expect([...app.log.pending.keys()]).toEqual([receipt_id]);
  });

  it("is confirmed when D1 wrote and only its answer was lost", async () => {
    const draft = {
      id: "evt_0_lost",
      kind: "DIRECTORY_MUTATE",
      at: "now",
      actor: "owner",
      via: "http",
      key: "L",
      trace: null,
      parent: null,
      data: {},
    } as const;
    const lossy = {
      batch: async (statements: D1PreparedStatement[]) => {
        await app.db.batch(statements);
        throw new Error(
          "UNIQUE constraint failed: directory_versions.key, directory_versions.version",
        );
      },
    };
    const outcome = await commit(lossy, app.log, {
      intent: { draft, key: "L", version: 1 },
      statements: [
        app.db.prepare(
          "insert into directory_versions values ('L', 1, 'put', null, null, 'owner', 'evt_0_lost', 'now')",
        ),
      ],
      landed: app.db.prepare("select 1 from directory_versions where receipt_id = 'evt_0_lost'"),
    });
    expect([outcome, app.log.events.length, app.log.abandoned]).toEqual(["committed", 1, []]);
  });

  const author = { principal: { kind: "owner" }, via: "http", trace: null, parent: null } as const;
});
