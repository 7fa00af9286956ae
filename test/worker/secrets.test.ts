import { beforeEach, describe, expect, it } from "vitest";
import { makeSecrets } from "../../src/store/secrets.ts";
import { insertRow, makeDirectoryApp, WHAT, type DirectoryApp } from "../support/directory-app.ts";

let app: DirectoryApp;

beforeEach(async () => {
  app = makeDirectoryApp();
  const tables = ["directory", "directory_versions", "secret_bindings"];
  await app.db.batch(tables.map((table) => app.db.prepare(`delete from ${table}`)));
});

const bind = (name: string, body: unknown) => app.call("PUT", `/api/secrets/${name}`, body);

describe("PUT /api/secrets/:NAME", () => {
  it("binds a secret to hosts, with an event, and a new version each time", async () => {
    const bound = await bind("TEST_BEARER", {
      hosts: ["API.example.com", "127.0.0.1:9093", "api.example.com"],
    });
    expect([bound.status, bound.body]).toEqual([
      200,
      {
        ok: true,
        name: "TEST_BEARER",
        hosts: ["api.example.com", "127.0.0.1:9093"],
        present: true,
        version: 1,
      },
    ]);
    expect((await bind("TEST_BEARER", { hosts: [] })).body).toMatchObject({
      hosts: [],
      version: 2,
    });
    expect(app.log.events.map(({ kind, actor, data }) => [kind, actor, data])).toEqual([
      [
        "SECRET_BIND",
        "owner",
        { name: "TEST_BEARER", hosts: ["api.example.com", "127.0.0.1:9093"], version: 1 },
      ],
      ["SECRET_BIND", "owner", { name: "TEST_BEARER", hosts: [], version: 2 }],
    ]);
    expect(await app.secrets.binding("TEST_BEARER", { fresh: true })).toEqual({
      hosts: [],
      version: 2,
    });
  });

  it("announces itself to the ledger under secret:NAME before D1 changes", async () => {
    app.log.onBegin = async (intent) => {
      expect([intent.key, intent.version]).toEqual(["secret:ANY", 1]);
      expect(await app.db.prepare("select count(*) n from secret_bindings").first("n")).toBe(0);
    };
    expect((await bind("ANY", { hosts: ["a.example"] })).body).toMatchObject({
      present: false,
      version: 1,
    });
  });

  it.each([
    ["TERMINAL_KEY", "reserved_name:TERMINAL_KEY"],
    ["MCP_TOKEN", "reserved_name:MCP_TOKEN"],
    ["DB", "reserved_name:DB"],
    ["LEDGER", "reserved_name:LEDGER"],
    ["DISCOVERY", "reserved_name:DISCOVERY"],
    ["9X", "invalid_name"],
    ["A-B", "invalid_name"],
  ])("%s is refused as %s", async (name, error) => {
    const answer = await bind(name, { hosts: ["api.example.com"] });
    expect([answer.status, answer.body.error]).toEqual([400, error]);
    expect(app.log.events).toEqual([]);
  });

  it.each([
    [{ hosts: ["https://api.example.com"] }, "invalid_host"],
    [{ hosts: ["ok.example", "*.example.com"] }, "invalid_host"],
    [{ hosts: ["a.example/x"] }, "invalid_host"],
    [{ hosts: [5] }, "invalid_host"],
    [{ hosts: "a.example" }, "invalid_field"],
    [{}, "invalid_field"],
    [{ hosts: Array(65).fill("a.example") }, "invalid_field"],
    ["[]", "invalid_json"],
  ])("%j is 400 %s", async (body, error) => {
    const answer = await bind("TEST_BEARER", body);
    expect([answer.status, answer.body.error]).toEqual([400, error]);
  });

  it("two owners at once both land, one after the other", async () => {
    const answers = await Promise.all([
      bind("X", { hosts: ["a.example"] }),
      bind("X", { hosts: ["b.example"] }),
    ]);
    expect(answers.map(({ body }) => body.version).sort()).toEqual([1, 2]);
  });
});

describe("GET /api/secrets", () => {
  it("names what rows use and what was bound, present or missing, and never a value", async () => {
    await insertRow(app.db, {
      key: "ONE",
      type: "http",
      auth: "bearer:TEST_BEARER",
      content: WHAT,
    });
    await insertRow(app.db, {
      key: "TWO",
      type: "http",
      auth: 'headers:{"a":"$TEST_BEARER","b":"$ABSENT"}',
      content: WHAT,
    });
    await insertRow(app.db, { key: "BAD", type: "http", auth: "what:NO", content: WHAT });
    await insertRow(app.db, { key: "NONE", type: "http", auth: "", content: WHAT });
    await bind("TEST_BEARER", { hosts: ["old.example"] });
    await bind("TEST_BEARER", { hosts: ["api.example.com"] });
    await bind("UNUSED", { hosts: ["b.example"] });
    const { body } = await app.call("GET", "/api/secrets");
    expect(body).toEqual({
      secrets: [
        { name: "ABSENT", present: false, hosts: [], keys: ["TWO"] },
        { name: "TEST_BEARER", present: true, hosts: ["api.example.com"], keys: ["ONE", "TWO"] },
        { name: "UNUSED", present: false, hosts: ["b.example"], keys: [] },
      ],
    });
    expect(JSON.stringify(body)).not.toContain("s3cr3t");
  });
});

describe("the secrets of a deployment", () => {
  const values = {
    A: " value\n",
    EMPTY: " ",
    TERMINAL_KEY: "owner",
    MCP_TOKEN: "mcp",
    DB: {},
    VERSION: { id: "x" },
    N: 5,
  };
  const secrets = makeSecrets(values, {} as D1Database, { now: () => 0 });

  it("are trimmed strings; empty, unknown, inherited and reserved names have none", () => {
    expect(secrets.value("A")).toBe("value");
    for (const name of [
      "EMPTY",
      "NOPE",
      "TERMINAL_KEY",
      "MCP_TOKEN",
      "DB",
      "N",
      "constructor",
      "__proto__",
      "toString",
    ]) {
      expect(secrets.value(name)).toBeNull();
    }
  });

  it("rowcall's own names and every binding are reserved", () => {
    for (const name of ["TERMINAL_KEY", "MCP_TOKEN", "PUBLIC_URL", "DB", "VERSION", "N"])
      expect(secrets.reserved(name)).toBe(true);
    for (const name of ["A", "EMPTY", "NOPE", "toString"])
      expect(secrets.reserved(name)).toBe(false);
  });

  it("the binding is remembered for ten seconds, read when asked to, and never remembered while there is none", async () => {
    expect(await app.secrets.binding("B", { fresh: false })).toEqual({ hosts: [], version: 0 });
    await bind("B", { hosts: ["a.example"] });
    expect(await app.secrets.binding("B", { fresh: false })).toEqual({
      hosts: ["a.example"],
      version: 1,
    });
    await bind("B", { hosts: ["b.example"] });
    expect((await app.secrets.binding("B", { fresh: false })).version).toBe(1);
    expect((await app.secrets.binding("B", { fresh: true })).version).toBe(2);
    expect((await app.secrets.binding("B", { fresh: false })).version).toBe(2);
    await app.db.prepare("insert into secret_bindings values ('B', 3, '[]', 'evt', 'now')").run();
    app.clock.advance(10_000);
    expect((await app.secrets.binding("B", { fresh: false })).version).toBe(3);
  });

  it("the Worker's real environment: a binding is reserved, a secret is not", () => {
    expect(app.secrets.value("TEST_BEARER")).toBe("s3cr3t-bearer-value");
    expect([app.secrets.reserved("KV"), app.secrets.reserved("TEST_BEARER")]).toEqual([
      true,
      false,
    ]);
  });
});
