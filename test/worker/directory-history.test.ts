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
const patch = (key: string, body: object, headers = {}) =>
  app.call("PATCH", `/api/directory/${key}`, body, headers);

describe("history", () => {
  it("lists the states newest first, and shows each", async () => {
    const made = (await make("H")).body;
    const patched = (await patch("H", { category: "b" })).body;
    const { versions } = (await app.call("GET", "/api/directory/h/versions")).body;
    expect(versions).toEqual([
      {
        version: 2,
        action: "patch",
        contract: expect.any(String),
        principal: "owner",
        receipt_id: "evt_0_2",
        at: patched.updated_at,
      },
      {
        version: 1,
        action: "create",
        contract: expect.any(String),
        principal: "owner",
        receipt_id: "evt_0_1",
        at: made.updated_at,
      },
    ]);
    const first = (await app.call("GET", "/api/directory/H/versions/1")).body;
    expect(first).toEqual({
      ...versions[1],
      row: expect.objectContaining({ key: "H", category: null }),
    });
    expect((await app.call("GET", "/api/directory/H/versions?cursor=2")).body.versions).toEqual([
      versions[1],
    ]);
  });

  it("outlives the row", async () => {
    await make("H");
    await app.call("DELETE", "/api/directory/H");
    expect((await app.call("GET", "/api/directory/h/versions")).body.versions).toHaveLength(2);
    expect((await app.call("GET", "/api/directory/H/versions/2")).body).toMatchObject({
      action: "delete",
      row: null,
      contract: null,
    });
  });

  it("of a row that came by SQL is empty, of an unknown key there is none", async () => {
    await insertRow(app.db, { key: "S", type: "fn" });
    expect((await app.call("GET", "/api/directory/S/versions")).body).toEqual({ versions: [] });
    for (const path of [
      "NOPE/versions",
      "NOPE/versions/1",
      "S/versions/0",
      "S/versions/9",
      "S/diff?from=1&to=2",
    ]) {
      const answer = await app.call("GET", `/api/directory/${path}`);
      expect([answer.status, answer.body]).toEqual([404, { error: "not_found" }]);
    }
  });

  it("the diff names each changed column, and whether the contract changed", async () => {
    await make("H");
    await patch("H", { category: "b", examples: ["x"] });
    await patch("H", { target: "now" });
    await app.call("DELETE", "/api/directory/H");
    const diff = async (query: string) =>
      (await app.call("GET", `/api/directory/H/diff?${query}`)).body;
    expect(await diff("from=1&to=2")).toEqual({
      changes: [
        { column: "category", old: null, new: "b" },
        { column: "examples", old: null, new: '["x"]' },
      ],
      contract_changed: false,
    });
    expect(await diff("from=3&to=2")).toEqual({
      changes: [{ column: "target", old: "now", new: "echo" }],
      contract_changed: true,
    });
    expect(await diff("from=3&to=4")).toMatchObject({ contract_changed: true });
    expect(await diff("from=a&to=2")).toMatchObject({ error: "invalid_field", field: "from" });
    expect(await diff("from=1")).toMatchObject({ error: "invalid_field", field: "to" });
  });
});

describe("rollback", () => {
  const rollback = (key: string, body: object, headers = {}) =>
    app.call("POST", `/api/directory/${key}/rollback`, body, headers);

  it("writes an old state as a new version", async () => {
    const made = (await make("R", { category: "a" })).body;
    await patch("R", { category: "b", enabled: 0 });
    const back = await rollback("R", { version: 1 });
    expect([back.status, back.body.version]).toEqual([200, 3]);
    const { row, version } = (await app.call("GET", "/api/directory/R")).body;
    expect(row).toMatchObject({
      category: "a",
      enabled: 1,
      created_at: made.updated_at,
      updated_at: back.body.updated_at,
    });
    expect(version).toBe(3);
    expect(app.log.events.at(-1)!.data).toMatchObject({ action: "rollback", version: 3 });
  });

  it("brings a deleted row back", async () => {
    await make("R");
    await app.call("DELETE", "/api/directory/R");
    expect((await rollback("r", { version: 1 })).body).toMatchObject({ key: "R", version: 3 });
    expect((await app.call("GET", "/api/directory/R")).status).toBe(200);
    expect(await rollback("R", { version: 2 })).toMatchObject({
      status: 422,
      body: { error: "version_is_deletion" },
    });
  });

  it("an unknown version is 404, one that is no number 400", async () => {
    await make("R");
    expect((await rollback("R", { version: 7 })).body).toEqual({ error: "not_found" });
    expect((await rollback("NOPE", { version: 1 })).status).toBe(404);
    for (const version of ["1", 1.5, null, -1])
      expect((await rollback("R", { version })).status).toBe(400);
  });

  it("keeps the rules: what the old state would add is refused", async () => {
    await insertRow(app.db, { key: "OLD", type: "fn", content: "bare" });
    await patch("OLD", { seq: 1 });
    await patch("OLD", { content: WHAT });
    expect((await rollback("OLD", { version: 1 })).body.error).toBe(
      "registry_hygiene_refused: missing_description",
    );
  });

  it("obeys If-Match", async () => {
    await make("R");
    expect((await rollback("R", { version: 1 }, { "if-match": '"9"' })).body).toEqual({
      error: "version_conflict",
      current: 1,
    });
  });
});
