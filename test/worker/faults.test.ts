import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { makeApp } from "../../src/http/app.ts";
import { makeRuntimeOf } from "../../src/runtime.ts";
import { OWNER_KEY, put } from "../support/client.ts";

/** The Worker in an environment of which one part is broken. */
async function ask(broken: Record<string, unknown>, path: string, body?: unknown) {
  const app = makeApp(makeRuntimeOf(() => new Response("not reached", { status: 500 })));
  const request = new Request(`https://example.com${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-terminal-key": OWNER_KEY },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = await app.fetch(request, { ...env, ...broken } as Env, createExecutionContext());
  const text = await answer.text();
  return { status: answer.status, text, json: JSON.parse(text) as Record<string, unknown> };
}

/** An object that answers nothing, as during an outage of its place. */
const silent = {
  idFromName: () => ({}),
  get: () =>
    new Proxy(
      {},
      { get: () => () => Promise.reject(new Error("the object s3cr3t-place is overloaded")) },
    ),
} as unknown as Env["LEDGER"];

const fullBucket = {
  put: () => Promise.reject(new Error("no space left")),
} as unknown as R2Bucket;

beforeAll(async () => {
  await put({ key: "SAY", type: "fn", target: "echo" });
});

describe("a fault of the engine", () => {
  it("of the ledger is 503 ledger_unavailable: nothing that is not recorded counts as done", async () => {
    const answer = await ask({ LEDGER: silent }, "/api/dispatch", { key: "SAY", body: "x" });
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({
      error: "ledger_unavailable",
      trace: expect.stringMatching(/^t_/),
    });
    expect(answer.text).not.toContain("overloaded");
    expect((await ask({ LEDGER: silent }, "/.well-known/jwks.json")).json.error).toBe(
      "ledger_unavailable",
    );
  });

  it("of the ledger keeps a directory write from landing", async () => {
    const row = { key: "NEVER", type: "fn", target: "echo", content: "# WHAT: never lands" };
    expect((await ask({ LEDGER: silent }, "/api/directory", row)).status).toBe(503);
    expect(await env.DB.prepare("select 1 from directory where key = 'NEVER'").first()).toBeNull();
  });

  it("of the bucket is 500 with a trace, and the large output is not called done", async () => {
    const answer = await ask({ BLOBS: fullBucket }, "/api/dispatch", {
      key: "SAY",
      body: "x".repeat(100_000),
    });
    expect(answer.status).toBe(500);
    expect(answer.json).toMatchObject({ error: "internal", trace: expect.stringMatching(/^t_/) });
    expect(answer.text).not.toMatch(/space|\bat \w+/);
  });

  it("of the database is 500 with a trace and neither a stack nor a statement", async () => {
    const DB = new Proxy(env.DB, { get: () => () => broken() });
    const answer = await ask({ DB }, "/api/dispatch?key=SAY");
    expect(answer.status).toBe(500);
    expect(answer.json.error).toBe("internal");
    expect(answer.text).not.toMatch(/select|src\//i);
  });
});

function broken(): never {
  throw new Error("select * from directory: disk I/O error at src/store/rows.ts");
}

describe("a configuration that is refused", () => {
  it("is told by the name of the value and its rule, whatever is asked", async () => {
    for (const path of ["/healthz", "/api/dispatch", "/nowhere"]) {
      const answer = await ask({ HTTP_TIMEOUT_MS: "soon", DISCOVERY: "maybe" }, path);
      expect(answer.status).toBe(500);
      expect(answer.json.error).toBe("bad_config");
      expect(answer.json.hint).toContain("HTTP_TIMEOUT_MS must be a whole number");
      expect(answer.json.hint).toContain("DISCOVERY must be public or credentialed");
    }
  });
});

describe("an address that nothing answers", () => {
  it("is 404 and says where to look", async () => {
    const answer = await ask({}, "/api/nothing");
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({
      error: "not_found",
      hint: expect.stringContaining("/api/dispatch"),
    });
  });
});
