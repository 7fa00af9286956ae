import { env } from "cloudflare:workers";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Json } from "../../src/core/json.ts";
import type { Answer, Author, DirectoryWrites } from "../../src/dispatch/ports.ts";
import { fn } from "../../src/runners/fn.ts";
import { runContext } from "../support/run-context.ts";

const { KV, BLOBS } = env;

async function run(
  target: string,
  pieces: string[],
  stores: object = { kv: KV, r2: BLOBS },
): Promise<Json> {
  const content = JSON.stringify(pieces.map((_piece, index) => `$${index + 1}`));
  const context = runContext({
    row: { target, content },
    input: { kind: "pieces", pieces },
    stores,
    call: { via: "mcp", trace: "t_7" },
  });
  return (await fn.run(context)).result;
}

describe("kv functions", () => {
  it("store, read and delete text under the prefix user:", async () => {
    const value = '{"a":"é|😀"}\n';
    expect(await run("kv_get", ["k"])).toBe(null);
    expect(await run("kv_put", ["k", value])).toEqual({ ok: true });
    expect(await run("kv_get", ["k"])).toBe(value);
    expect(await KV.get("user:k")).toBe(value);
    expect(await run("kv_delete", ["k"])).toEqual({ ok: true });
    expect(await run("kv_get", ["k"])).toBe(null);
    expect(await run("kv_delete", ["k"])).toEqual({ ok: true });
  });

  it("reach nothing outside of the prefix", async () => {
    await KV.put("breaker:ROW", "open");
    for (const key of ["breaker:ROW", "../breaker:ROW"]) {
      expect(await run("kv_get", [key])).toBe(null);
      await run("kv_delete", [key]);
    }
    expect(await KV.get("breaker:ROW")).toBe("open");
  });

  it("keep an empty text, and the JSON text of another value", async () => {
    await run("kv_put", ["empty", ""]);
    expect(await run("kv_get", ["empty"])).toBe("");
    const context = runContext({
      row: { target: "kv_put", content: '["json",{"n":[1,$1]}]' },
      input: "2574604874062343519",
      stores: { kv: KV },
    });
    await fn.run(context);
    expect(await run("kv_get", ["json"])).toBe('{"n":[1,2574604874062343519]}');
  });

  it("take a life of 60 seconds or more, and none when it is left out", async () => {
    expect(await run("kv_put", ["ttl", "x", "60"])).toEqual({ ok: true });
    const expiration = async () => (await KV.list({ prefix: "user:ttl" })).keys[0]?.expiration;
    expect((await expiration())! * 1_000 - Date.now()).toBeGreaterThan(30_000);
    expect(await run("kv_put", ["ttl", "x", ""])).toEqual({ ok: true });
    expect(await expiration()).toBeUndefined();
    for (const ttl of ["59", "0", "-60", "60.5", "1e99", "soon", "true", "{}"]) {
      expect(await run("kv_put", ["ttl", "x", ttl]), ttl).toMatch(
        /^ERR:fn:bad_arguments:kv_put:ttl must be /,
      );
    }
  });

  it("bound key and value", async () => {
    expect(await run("kv_get", [""])).toBe("ERR:fn:bad_arguments:kv_get:key must not be empty");
    expect(await run("kv_get", ["é".repeat(254)])).toBe(
      "ERR:fn:bad_arguments:kv_get:key must be at most 507 bytes",
    );
    expect(await run("kv_put", ["k".repeat(507), "x"])).toEqual({ ok: true });
    expect(await run("kv_put", ["k", "x".repeat(1_048_577)])).toMatch(
      /^ERR:fn:bad_arguments:kv_put:value must be at most/,
    );
    expect(await run("kv_put", ["k"])).toBe("ERR:fn:bad_arguments:kv_put:value is missing");
  });
});

describe("r2 functions", () => {
  const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

  it("store and read an object with its type, size and hash", async () => {
    const body = "a,b\né,😀";
    const facts = { size: Buffer.byteLength(body), sha256: sha256(body) };
    expect(await run("r2_get", ["x/y.csv"])).toBe(null);
    expect(await run("r2_put", ["x/y.csv", body, "text/csv; charset=utf-8"])).toEqual({
      key: "x/y.csv",
      ...facts,
    });
    expect(await run("r2_get", ["x/y.csv"])).toEqual({
      body,
      type: "text/csv; charset=utf-8",
      ...facts,
    });
    expect(await run("r2_put", ["plain", "", ""])).toEqual({
      key: "plain",
      size: 0,
      sha256: sha256(""),
    });
    expect(await run("r2_get", ["plain"])).toMatchObject({
      body: "",
      type: "text/plain; charset=utf-8",
      size: 0,
    });
  });

  it("reach no bytes of the ledger", async () => {
    await BLOBS.put("sha256/abc", "ledger");
    for (const key of ["sha256/abc", "../sha256/abc", "/sha256/abc"]) {
      expect(await run("r2_get", [key])).toBe(null);
      await run("r2_put", [key, "mine"]);
    }
    expect(await (await BLOBS.get("sha256/abc"))!.text()).toBe("ledger");
  });

  it("give bytes that are no text as base64, and cut what is large", async () => {
    await BLOBS.put("user/bin", new Uint8Array([0xff, 0x00]), {
      httpMetadata: { contentType: "image/x" },
    });
    expect(await run("r2_get", ["bin"])).toEqual({
      body: "base64:image/x:/wA=",
      type: "image/x",
      size: 2,
      sha256: null,
    });
    await BLOBS.put("user/big", `${"x".repeat(1_048_575)}é`);
    const big = (await run("r2_get", ["big"])) as {
      body: string;
      size: number;
      truncated: boolean;
    };
    expect([big.size, big.truncated, big.body === "x".repeat(1_048_575)]).toEqual([
      1_048_577,
      true,
      true,
    ]);
  });

  it("refuse a bad key or type", async () => {
    expect(await run("r2_put", ["", "x"])).toMatch(/^ERR:fn:bad_arguments:r2_put:key /);
    for (const type of ["nope", "a/b\r\nx: y", "a b/c"]) {
      expect(await run("r2_put", ["k", "x", type])).toMatch(
        /^ERR:fn:bad_arguments:r2_put:type must be a media type/,
      );
    }
  });

  it("say when there is no bucket", async () => {
    expect(await run("r2_put", ["k", "x"], {})).toBe("ERR:fn:not_configured:BLOBS");
  });
});

describe("directory functions", () => {
  function directory(answer: Answer): { directory: DirectoryWrites; seen: unknown[] } {
    const seen: unknown[] = [];
    const note = async (...given: unknown[]): Promise<Answer> => (seen.push(given), answer);
    return { seen, directory: { get: note, put: note, patch: note } };
  }
  const author: Author = {
    principal: { kind: "owner" },
    via: "mcp",
    trace: "t_7",
    parent: "inv_0_0000000000000001",
  };

  it("answer as the directory API, with the invocation as parent of the change", async () => {
    const body = { ok: true, key: "A", version: 2 };
    const stores = directory({ status: 200, body });
    expect(await run("directory_get", ["A"], stores)).toEqual(body);
    expect(await run("directory_patch", ["A", '{"seq":1}'], stores)).toEqual(body);
    expect(await run("directory_put", ["A", '{"type":"fn"}'], stores)).toEqual(body);
    expect(stores.seen).toEqual([
      ["A"],
      ["A", '{"seq":1}', author],
      ["A", '{"type":"fn"}', author],
    ]);
  });

  it("fail with the literal of a refusal and what explains it", async () => {
    const refused = directory({
      status: 422,
      body: { error: "registry_hygiene_refused: missing_description", state_changed: false },
    });
    expect(await run("directory_put", ["A", "{}"], refused)).toBe(
      'ERR:fn:directory_put:registry_hygiene_refused: missing_description {"state_changed":false}',
    );
    expect(
      await run("directory_get", ["A"], directory({ status: 404, body: { error: "not_found" } })),
    ).toBe("ERR:fn:directory_get:not_found");
  });
});
