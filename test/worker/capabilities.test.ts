import { beforeEach, describe, expect, it } from "vitest";
import { makeCapabilities } from "../../src/store/capabilities.ts";
import { makeMemory } from "../../src/store/memory.ts";
import { rankNear } from "../../src/store/near.ts";
import {
  capabilityDeps,
  insertRow,
  makeDirectoryApp,
  WHAT,
  type DirectoryApp,
} from "../support/directory-app.ts";

let app: DirectoryApp;

beforeEach(async () => {
  app = makeDirectoryApp();
  await app.db.batch(
    ["directory", "directory_versions"].map((table) => app.db.prepare(`delete from ${table}`)),
  );
});

const put = (key: string, row: object) => app.directory.put(key, JSON.stringify(row), author);
const author = { principal: { kind: "owner" }, via: "http", trace: null, parent: null } as const;
const fn = (target: string) => ({ type: "fn", target, content: WHAT });
const flow = (steps: string) => ({ type: "flow", content: `${WHAT}\n${steps}` });
const resolve = (key: string, fresh = false) => app.capabilities.resolve(key, { fresh });

describe("a resolved row", () => {
  it("is made ready: text read, schema parsed, fingerprint known", async () => {
    await put("A", {
      ...fn("echo"),
      input_schema: { type: "object", properties: { x: { type: "string" } } },
    });
    expect(await resolve("a")).toMatchObject({
      row: { key: "A", enabled: 1 },
      version: 1,
      doc: { what: "tells something small" },
      schema: { type: "object" },
      operation: "read",
      fingerprint: (await app.directory.get("A")).body.contract,
      fresh: true,
    });
  });

  it("that SQL put in has version 0, and a schema that is none is no schema", async () => {
    await insertRow(app.db, { key: "S", type: "fn", input_schema: "not json" });
    expect(await resolve("S")).toMatchObject({
      version: 0,
      schema: undefined,
      claims: [{ key: "S", version: 0 }],
    });
  });

  it("is found exact first, then upper-cased", async () => {
    await put("CASE", fn("upper"));
    await app.call("POST", "/api/directory", { key: "case", ...fn("lower") });
    expect((await resolve("case"))!.row.target).toBe("lower");
    expect((await resolve("Case"))!.row.target).toBe("upper");
    expect((await resolve("CASE"))!.row.target).toBe("upper");
  });

  it.each(["NOPE", "", "A\0", "A".repeat(5_000), "\ud800", "'; --"])(
    "there is none under %j",
    async (key) => {
      await put("A", fn("echo"));
      expect(await resolve(key)).toBeNull();
    },
  );

  it("a disabled row is returned, for the gate to hide", async () => {
    await put("OFF", { ...fn("echo"), enabled: 0 });
    expect((await resolve("OFF"))!.row.enabled).toBe(0);
  });
});

describe("what an isolate remembers", () => {
  it("is told from what was read during the call", async () => {
    await put("A", fn("echo"));
    expect((await resolve("A"))!.fresh).toBe(true);
    expect((await resolve("A"))!.fresh).toBe(false);
    expect((await resolve("A", true))!.fresh).toBe(true);
    expect((await resolve("A"))!.fresh).toBe(false);
  });

  it("keeps its old version after a write elsewhere, so that the ledger sees it, until somebody reads fresh", async () => {
    await put("A", fn("echo"));
    await resolve("A");
    await put("A", fn("other"));
    expect(await resolve("A")).toMatchObject({
      fresh: false,
      version: 1,
      claims: [{ key: "A", version: 1 }],
    });
    expect(await resolve("A", true)).toMatchObject({
      fresh: true,
      version: 2,
      row: { target: "other" },
    });
    expect(await resolve("A")).toMatchObject({ fresh: false, version: 2 });
  });

  it("is read again after ten seconds, so that an edit by plain SQL shows", async () => {
    await put("A", fn("echo"));
    await resolve("A");
    await app.db.prepare("update directory set target = 'edited' where key = 'A'").run();
    app.clock.advance(9_000);
    expect((await resolve("A"))!.row.target).toBe("echo");
    app.clock.advance(1_000);
    expect(await resolve("A")).toMatchObject({ fresh: true, row: { target: "edited" } });
  });

  it("never holds an unknown key: a row created a moment later is found", async () => {
    expect(await resolve("NEW")).toBeNull();
    await put("NEW", fn("echo"));
    expect(await resolve("NEW")).toMatchObject({ version: 1 });
    await app.directory.change({ action: "delete", key: "NEW" }, author, null);
    expect(await resolve("NEW", true)).toBeNull();
    expect(await resolve("NEW")).toBeNull();
  });

  it("claims the exact spelling too when only the upper-cased one was found", async () => {
    await put("LOW", fn("echo"));
    expect((await resolve("low"))!.claims).toEqual([
      { key: "LOW", version: 1 },
      { key: "low", version: 0 },
    ]);
    await app.call("POST", "/api/directory", { key: "low", ...fn("mine") });
    await app.directory.change({ action: "delete", key: "low" }, author, null);
    expect((await resolve("low", true))!.claims).toContainEqual({ key: "low", version: 2 });
  });

  it("is bounded: the least recently used name leaves first", () => {
    const memory = makeMemory<number>();
    for (let name = 0; name < 2_000; name++) memory.remember(String(name), name, 0);
    memory.recall("0", 1);
    memory.remember("one more", 1, 0);
    expect([memory.recall("0", 1), memory.recall("1", 1), memory.recall("one more", 1)]).toEqual([
      0,
      undefined,
      1,
    ]);
  });
});

describe("what a row rests on", () => {
  const claimed = async (key: string) =>
    new Map((await resolve(key, true))!.claims.map(({ key: name, version }) => [name, version]));

  it("a flow of reading steps reads; one writing step anywhere below makes it write", async () => {
    await put("R", fn("read"));
    await put("W", fn("write"));
    await put("GET", { type: "http", target: "get https://api.example.com/", content: WHAT });
    await put("POST", { type: "http", target: "POST https://api.example.com/", content: WHAT });
    await put("TALK", { type: "agent", target: "model", content: WHAT });
    for (const [steps, operation] of [
      ["R: x > GET: y", "read"],
      ["R: x > W: y", "write"],
      ["{ R: x | POST: y }", "write"],
      ["TALK: x", "write"],
      ["MISSING: x", "read"],
    ] as const) {
      await put("F", flow(steps));
      await put("OUTER", flow("R: x > f: y"));
      expect([
        (await resolve("F", true))!.operation,
        (await resolve("OUTER", true))!.operation,
      ]).toEqual([operation, operation]);
    }
  });

  it("its claims name every row that was read, with 0 for one that is unknown", async () => {
    await put("R", fn("read"));
    await put("INNER", flow("r: x > MISSING: y"));
    await put("F", flow("INNER: x"));
    expect(await claimed("F")).toEqual(
      new Map([
        ["F", 1],
        ["INNER", 1],
        ["r", 0],
        ["R", 1],
        ["MISSING", 0],
      ]),
    );
    await put("R", fn("write it"));
    expect((await claimed("F")).get("R")).toBe(2);
    expect((await resolve("F", true))!.operation).toBe("write");
  });

  it("a cycle ends, and counts as reading", async () => {
    await put("A", flow("B: x"));
    await put("B", flow("A: x"));
    expect((await resolve("A", true))!.operation).toBe("read");
    expect(await claimed("A")).toEqual(
      new Map([
        ["A", 1],
        ["B", 1],
      ]),
    );
  });

  it("what is nested deeper than a call may go counts as writing", async () => {
    for (let depth = 0; depth < 12; depth++) await put(`N${depth}`, flow(`N${depth + 1}: x`));
    expect((await resolve("N0", true))!.operation).toBe("write");
    expect((await resolve("N0", true))!.claims).toHaveLength(9);
    expect((await resolve("N6", true))!.operation).toBe("read");
  });

  it("an agent's fingerprint holds those of its includes, null for one that is unknown or goes round", async () => {
    const agent = (includes: string) => ({
      type: "agent",
      target: "m",
      content: `${WHAT}\nBe kind.`,
      includes,
    });
    await put("TONE", fn("read"));
    await put("TALK", agent("tone, MISSING"));
    const before = (await resolve("TALK", true))!.fingerprint;
    expect([...(await claimed("TALK")).keys()].sort()).toEqual(["MISSING", "TALK", "TONE", "tone"]);
    await put("TONE", { ...fn("read"), category: "undocumented by the fingerprint of this test" });
    expect((await resolve("TALK", true))!.fingerprint).toBe(before);
    await put("TONE", fn("another"));
    expect((await resolve("TALK", true))!.fingerprint).not.toBe(before);
    await put("TALK", agent("TALK"));
    await put("PAIR_A", agent("PAIR_B"));
    await put("PAIR_B", agent("PAIR_A"));
    expect((await resolve("TALK", true))!.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect((await resolve("PAIR_A", true))!.claims).toHaveLength(2);
  });

  it("a look-up costs one query, and one more for each level below", async () => {
    await put("R", fn("read"));
    await put("F", flow("R: x"));
    let queries = 0;
    const counted = new Proxy(app.db, {
      get: (db, name) => {
        if (name === "prepare") queries++;
        const value: unknown = Reflect.get(db, name);
        return typeof value === "function" ? value.bind(db) : value;
      },
    });
    const capabilities = makeCapabilities(counted, capabilityDeps(app.clock));
    await capabilities.resolve("r", { fresh: true });
    expect(queries).toBe(1);
    await capabilities.resolve("F", { fresh: true });
    expect(queries).toBe(3);
    await capabilities.resolve("F", { fresh: false });
    expect(queries).toBe(3);
  });
});

describe("near keys", () => {
  it("are enabled ones, the nearest first, at most five", async () => {
    for (const key of ["WEATHER", "WEATHER_NOW", "LEATHER", "NOW", "ECHO"])
      await put(key, fn("echo"));
    await put("WEATHR", { ...fn("echo"), enabled: 0 });
    expect(await app.capabilities.near("weathr")).toEqual(["WEATHER", "LEATHER"]);
    expect(await app.capabilities.near("weather")).toEqual(["WEATHER", "LEATHER", "WEATHER_NOW"]);
    expect(await app.capabilities.near("")).toEqual([]);
    expect(await app.capabilities.near("z\0".repeat(10_000))).toEqual([]);
  });

  it("take bounded time over a large catalogue of long keys", () => {
    const name = (first: string, last: number): string => `${first}${"AB".repeat(60)}_${last}`;
    const keys = Array.from({ length: 5_000 }, (_, index) => name("X", index + 1_000));
    const begun = performance.now();
    expect(rankNear(name("X", 77), keys)).toHaveLength(5);
    expect(rankNear(name("Y", 1_234), keys)).toContain(name("X", 1_234));
    expect(performance.now() - begun).toBeLessThan(1_000);
  });
});
