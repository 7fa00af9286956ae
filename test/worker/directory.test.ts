import { beforeEach, describe, expect, it } from "vitest";
import { insertRow, makeDirectoryApp, WHAT, type DirectoryApp } from "../support/directory-app.ts";

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
const stored = async () =>
  (await app.db.prepare("select * from directory order by key").all()).results;

describe("POST", () => {
  it("creates a row, with every default, and answers 201", async () => {
    const made = await make("ECHO", { colour: "red", created_at: "1999" });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      ok: true,
      key: "ECHO",
      updated_at: expect.any(String),
      version: 1,
      ignored: ["colour", "created_at"],
    });
    expect(made.headers.get("etag")).toBe('"1"');
    expect(await stored()).toEqual([
      {
        key: "ECHO",
        type: "fn",
        target: "echo",
        auth: null,
        content: WHAT,
        updated_at: made.body.updated_at,
        category: null,
        allowed_categories: null,
        seq: null,
        enabled: 1,
        planner_visible: 1,
        planner_rank: 100,
        input_schema: null,
        examples: null,
        sensitive: 0,
        runner: null,
        includes: null,
        created_at: made.body.updated_at,
      },
    ]);
  });

  it("refuses a key that exists, and takes one that differs in case as another", async () => {
    await make("ECHO");
    expect(await make("ECHO")).toMatchObject({ status: 409, body: { error: "key_exists" } });
    expect((await make("echo")).body).toMatchObject({ key: "echo", version: 1 });
    expect((await stored()).length).toBe(2);
  });

  it.each([
    [{}, 400, "invalid_key"],
    [{ key: "9X", type: "fn" }, 400, "invalid_key"],
    [{ key: "X" }, 400, "invalid_type"],
    [{ key: "X", type: "cron", content: WHAT }, 400, "invalid_type"],
    [{ key: "X", type: "fn", content: 5 }, 400, "invalid_field"],
    [[], 400, "invalid_json"],
    ["{", 400, "invalid_json"],
    ["", 400, "invalid_json"],
  ])("%j is %i %s", async (body, status, error) => {
    const answer = await app.call("POST", "/api/directory", body);
    expect([answer.status, answer.body.error]).toEqual([status, error]);
    expect(await stored()).toEqual([]);
  });

  it("a refusal of the hygiene gate is exact and changes nothing", async () => {
    const answer = await make("X", { content: "no docs" });
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({
      error: "registry_hygiene_refused: missing_description",
      how_to_fix: expect.stringContaining("# WHAT:"),
      state_changed: false,
    });
    expect(await stored()).toEqual([]);
    expect(app.log.events).toEqual([]);
    expect(app.log.pending.size).toBe(0);
  });
});

describe("without the owner's key", () => {
  it.each([
    ["GET", "/api/directory"],
    ["POST", "/api/directory"],
    ["GET", "/api/directory/A"],
    ["PUT", "/api/directory/A"],
    ["PATCH", "/api/directory/A"],
    ["DELETE", "/api/directory/A"],
    ["GET", "/api/directory/A/versions"],
    ["GET", "/api/directory/A/versions/1"],
    ["GET", "/api/directory/A/diff?from=1&to=2"],
    ["POST", "/api/directory/A/rollback"],
    ["GET", "/api/secrets"],
    ["PUT", "/api/secrets/A"],
  ])("%s %s is 401", async (method, path) => {
    const answer = await app.call(method, path, undefined, { "x-terminal-key": "no" });
    expect([answer.status, answer.body]).toEqual([401, { error: "unauthorized" }]);
  });
});

describe("GET of one row", () => {
  it("gives row, row_num, version, contract and ETag, under either spelling", async () => {
    await make("ECHO");
    for (const key of ["ECHO", "echo"]) {
      const got = await app.call("GET", `/api/directory/${key}`);
      expect(got.body).toEqual({
        row: (await stored())[0],
        row_num: 1,
        version: 1,
        contract: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(got.headers.get("etag")).toBe('"1"');
    }
  });

  it("an unknown key is exactly not_found, a key that none could have is invalid", async () => {
    const unknown = await app.call("GET", "/api/directory/NOPE");
    expect([unknown.status, unknown.body]).toEqual([404, { error: "not_found" }]);
    expect(await app.call("GET", "/api/directory/no%20key")).toMatchObject({
      status: 400,
      body: { error: "invalid_key" },
    });
    expect(await app.call("GET", "/api/directory/ECHO%00")).toMatchObject({ status: 400 });
  });

  it("a row that SQL gave an odd key can be read, patched and deleted", async () => {
    await insertRow(app.db, { key: "crm list", type: "fn", content: WHAT });
    expect((await app.call("GET", "/api/directory/crm%20list")).body).toMatchObject({
      version: 0,
      row_num: 1,
    });
    expect((await app.call("PATCH", "/api/directory/crm%20list", { seq: 1 })).status).toBe(200);
    expect((await app.call("DELETE", "/api/directory/crm%20list")).status).toBe(200);
  });
});

describe("PUT", () => {
  it("creates with 201, replaces with 200, and what it does not name goes back to its default", async () => {
    const made = await app.call("PUT", "/api/directory/P", {
      ...FN,
      category: "x",
      runner: "r",
      planner_rank: 5,
    });
    expect([made.status, made.body.version]).toEqual([201, 1]);
    const put = await app.call("PUT", "/api/directory/P", { ...FN, key: "P", enabled: false });
    expect([put.status, put.body.version]).toEqual([200, 2]);
    expect((await stored())[0]).toMatchObject({
      category: null,
      runner: null,
      planner_rank: 100,
      enabled: 0,
    });
    expect((await stored())[0]!.created_at).toBe(made.body.updated_at);
  });

  it("refuses a bad key, a missing type and a body of another key", async () => {
    expect((await app.call("PUT", "/api/directory/9", FN)).body.error).toBe("invalid_key");
    expect((await app.call("PUT", "/api/directory/P", { content: WHAT })).body.error).toBe(
      "invalid_type",
    );
    expect((await app.call("PUT", "/api/directory/P", { ...FN, key: "Q" })).body.error).toBe(
      "invalid_key",
    );
  });

  it("refuses a row that breaks a rule even when it was broken before", async () => {
    await insertRow(app.db, { key: "OLD", type: "fn", content: "bare" });
    expect(
      (await app.call("PUT", "/api/directory/OLD", { type: "fn", content: "bare" })).status,
    ).toBe(422);
  });
});

describe("PATCH", () => {
  it("changes the named columns, lists others as ignored, and is 404 without a row", async () => {
    await make("P", { category: "a" });
    const answer = await app.call("PATCH", "/api/directory/p", {
      seq: 4,
      sensitive: 1,
      runner: "x",
      key: "Z",
    });
    expect(answer.body).toEqual({
      ok: true,
      key: "P",
      updated_at: expect.any(String),
      version: 2,
      ignored: ["sensitive", "runner", "key"],
    });
    expect((await stored())[0]).toMatchObject({
      category: "a",
      seq: 4,
      sensitive: 0,
      runner: null,
    });
    expect((await app.call("PATCH", "/api/directory/NOPE", { seq: 1 })).body).toEqual({
      error: "not_found",
    });
  });

  it("a body without a writable name is exactly no recognized fields", async () => {
    await make("P");
    for (const body of [{}, { sensitive: 1 }, { colour: 1 }]) {
      const answer = await app.call("PATCH", "/api/directory/P", body);
      expect([answer.status, answer.body]).toEqual([400, { error: "no recognized fields" }]);
    }
  });

  it("keeps an old row without documentation editable, and refuses what a patch adds", async () => {
    await insertRow(app.db, {
      key: "GREETER",
      type: "agent",
      target: "some-model",
      content: "You greet people.",
    });
    await insertRow(app.db, {
      key: "LISTING",
      type: "http",
      target: "nonsense",
      content: "# lists things",
    });
    expect(
      (await app.call("PATCH", "/api/directory/GREETER", { content: "You greet people warmly." }))
        .body.version,
    ).toBe(1);
    expect((await app.call("PATCH", "/api/directory/LISTING", { category: "x" })).status).toBe(200);
    expect(
      (await app.call("PATCH", "/api/directory/GREETER", { examples: "no" })).body,
    ).toMatchObject({
      error: "registry_hygiene_refused: invalid_examples",
      state_changed: false,
    });
    expect((await app.call("PATCH", "/api/directory/GREETER", { auth: "what:X" })).status).toBe(
      422,
    );
    expect(
      (await app.call("PATCH", "/api/directory/GREETER", { auth: "bearer:TERMINAL_KEY" })).status,
    ).toBe(422);
    expect((await app.call("PATCH", "/api/directory/LISTING", { content: "bare" })).status).toBe(
      422,
    );
    expect(
      (
        await app.call("PATCH", "/api/directory/LISTING", {
          target: "GET https://api.example.com/",
        })
      ).status,
    ).toBe(200);
    expect((await app.call("PATCH", "/api/directory/LISTING", { target: "nonsense" })).status).toBe(
      422,
    );
  });
});

describe("DELETE", () => {
  it("deletes the row, and the key goes on counting where it stopped", async () => {
    await make("D");
    const gone = await app.call("DELETE", "/api/directory/D");
    expect([gone.status, gone.body]).toEqual([200, { ok: true, key: "D", deleted: 1 }]);
    expect((await app.call("GET", "/api/directory/D")).status).toBe(404);
    expect((await app.call("DELETE", "/api/directory/D")).body).toEqual({ error: "not_found" });
    expect((await make("D")).body.version).toBe(3);
    expect(
      (await app.call("GET", "/api/directory/D/versions")).body.versions.map(
        (item: { action: string }) => item.action,
      ),
    ).toEqual(["create", "delete", "create"]);
  });
});
