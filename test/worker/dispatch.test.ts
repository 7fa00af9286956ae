import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { call, ORIGIN, put, receipt, request } from "../support/client.ts";

const upstream = inject("upstream");

beforeAll(async () => {
  await put({ key: "SAY", type: "fn", target: "echo" });
  await put({ key: "PAIR", type: "fn", target: "echo", content: '["$1","$2"]' });
  await put({ key: "FETCH", type: "http", target: `GET ${upstream}/echo?q=$1` });
  await put({
    key: "TYPED",
    type: "fn",
    target: "echo",
    content: '[{"name":"$name","size":$size}]',
    input_schema: JSON.stringify({
      type: "object",
      properties: { name: { type: "string" }, size: { type: "integer", minimum: 1 } },
      required: ["name"],
    }),
  });
});

describe("an invocation", () => {
  it("answers with the result, the invocation and the proof of it", async () => {
    const answer = await call("SAY", "hello");
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ ok: true, ran: true, key: "SAY", result: "hello" });
    const { invocation, proof, trace } = answer.json;
    expect(trace).toMatch(/^t_/);
    expect(invocation.id).toMatch(/^inv_/);
    expect(proof).toEqual({
      ok: true,
      did: "DONE — SAY",
      invocation_id: invocation.id,
      confirm: `${ORIGIN}/api/dispatch?confirm=${invocation.id}`,
      public_receipt: `${ORIGIN}/receipt/${invocation.id}`,
    });
  });

  it("finds a key by its upper-case spelling", async () => {
    expect((await call("say", "x")).json).toMatchObject({ ok: true, key: "SAY", result: "x" });
  });

  it("takes the owner key as a bearer too", async () => {
    const headers = { authorization: "Bearer owner-key-of-the-test-deployment" };
    const answer = await request("/api/dispatch", {
      anonymous: true,
      headers,
      body: { key: "SAY", body: "x" },
    });
    expect(answer.status).toBe(200);
  });

  it("validates named arguments before anything runs, and names each fault", async () => {
    const answer = await call("TYPED", { size: 0 });
    expect(answer.status).toBe(422);
    expect(answer.json).toMatchObject({ error: "invalid_arguments", ran: false });
    expect(answer.json.contract).toMatch(/^[0-9a-f]{64}$/);
    expect(answer.json.issues.map((issue: { keyword: string }) => issue.keyword).sort()).toEqual([
      "minimum",
      "required",
    ]);
  });

  it("maps a positional body to the schema's properties and coerces it", async () => {
    expect((await call("TYPED", "Ada|3")).json.result).toEqual({ name: "Ada", size: 3 });
  });

  it("keeps the digits of an integer that JavaScript would round", async () => {
    const answer = await call("FETCH", "2574604874062343519", { as: "json" });
    expect(answer.text).toContain("2574604874062343519");
    const refused = await request("/api/dispatch", {
      body: '{"key":"TYPED","args":{"name":"a","size":9007199254740993}}',
    });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("string");
  });
});

describe("the status rule", () => {
  it("answers 200 with ok:false when the capability ran and failed", async () => {
    await put({ key: "GONE", type: "fn", target: "no_such_function" });
    const answer = await call("GONE");
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      ok: false,
      ran: true,
      result: "ERR:fn:unknown_target:no_such_function",
    });
    expect((await receipt(answer)).data).toMatchObject({
      ok: false,
      ran: true,
      material: false,
      status: "FAILED",
    });
  });

  it("answers 4xx with ran:false and a hint when it was refused before running", async () => {
    const answer = await call("NO_SUCH_ROW");
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({
      error: "unknown_key",
      attempted: "NO_SUCH_ROW",
      ran: false,
    });
    expect(answer.json.did_you_mean).toBeInstanceOf(Array);
    expect(answer.json.hint).toBeTypeOf("string");
  });

  it("answers 401 to a stranger without reading anything", async () => {
    const answer = await request("/api/dispatch", {
      anonymous: true,
      body: { key: "SAY", body: "x" },
    });
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ error: "unauthorized", ran: false });
  });

  it("answers a disabled row as unknown, and knows it again on the very next call", async () => {
    await put({ key: "SWITCHED", type: "fn", target: "echo" });
    expect((await call("SWITCHED", "a")).status).toBe(200);
    await request("/api/directory/SWITCHED", { method: "PATCH", body: { enabled: 0 } });
    expect((await call("SWITCHED", "a")).json).toMatchObject({ error: "unknown_key" });
    await request("/api/directory/SWITCHED", { method: "PATCH", body: { enabled: 1 } });
    expect((await call("SWITCHED", "a")).status).toBe(200);
  });
});

describe("a request that is not well formed", () => {
  it.each([
    ["no JSON", "{", "invalid_json"],
    ["an array", "[]", "invalid_request"],
    ["null", "null", "invalid_request"],
    ["no key", "{}", "invalid_request"],
    ["a number as key", '{"key":1}', "invalid_request"],
    ["an object as body", '{"key":"SAY","body":{"a":1}}', "invalid_request"],
    ["args and body at once", '{"key":"SAY","body":"a","args":{}}', "invalid_request"],
    ["an array as args", '{"key":"SAY","args":[]}', "invalid_request"],
    ["a member nobody knows", '{"key":"SAY","bdoy":"a"}', "invalid_request"],
    ["as something else", '{"key":"SAY","as":"xml"}', "invalid_request"],
    ["a pointer without a slash", '{"key":"SAY","select":["a"]}', "invalid_request"],
    ["a negative max_result", '{"key":"SAY","max_result":-1}', "invalid_request"],
    ["an id of another form", '{"key":"SAY","repairs":"x"}', "invalid_request"],
    ["force without replay", '{"key":"SAY","force":true}', "invalid_request"],
    ["replay together with a key", '{"key":"SAY","replay":"inv_0_aaaa"}', "invalid_request"],
  ])("with %s is 400 and says what to mend", async (_name, body, error) => {
    const answer = await request("/api/dispatch", { body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ error, ran: false });
    expect(answer.json.hint.length).toBeGreaterThan(10);
  });

  it("with a body beyond the limit is 413", async () => {
    const answer = await request("/api/dispatch", {
      body: { key: "SAY", body: "x".repeat(2_200_000) },
    });
    expect(answer.status).toBe(413);
    expect(answer.json.error).toMatch(/^payload_too_large/);
  });

  it("deeply nested is answered, not crashed on", async () => {
    const deep = `{"key":"SAY","args":{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`;
    expect((await request("/api/dispatch", { body: deep })).status).toBeLessThan(500);
  });
});

describe("what a caller gets back of a result", () => {
  it("is the JSON value inside an http result with as: json", async () => {
    const answer = await call("FETCH", "tea & cake", { as: "json" });
    expect(answer.json.result).toMatchObject({ method: "GET", url: "/echo?q=tea%20%26%20cake" });
    expect((await call("FETCH", "x")).json.result).toMatch(/^HTTP 200:\{/);
  });

  it("is only the pointers of select, and null where there is nothing", async () => {
    const answer = await call("FETCH", "x", { select: ["/method", "/nothing/here"] });
    expect(answer.json.result).toEqual({ "/method": "GET", "/nothing/here": null });
    const whole = await receipt(answer);
    expect(whole.data.output).toMatch(/^HTTP 200:\{.*"url"/);
  });

  it("is ERR:select:not_json when select meets text", async () => {
    expect((await call("SAY", "plain text", { select: ["/a"] })).json).toMatchObject({
      result: "ERR:select:not_json",
      ok: false,
    });
  });

  it("is cut at max_result between code points, and ?output= pages through the rest", async () => {
    const text = "é😀".repeat(20_000);
    const answer = await call("SAY", text, { max_result: 9 });
    expect(answer.json).toMatchObject({ truncated: true, result_bytes: 120_000, result: "é😀é" });
    let seen = answer.json.result as string;
    let next: string | null = new URL(answer.json.more).search;
    while (next) {
      const part: { output: string; next: number | null } = (await request(`/api/dispatch${next}`))
        .json;
      seen += part.output;
      next = part.next === null ? null : `?output=${answer.json.invocation.id}&offset=${part.next}`;
    }
    expect(seen).toBe(text);
  });

  it("is not paged for a stranger, and a bad offset is named", async () => {
    const { invocation } = (await call("SAY", "x")).json;
    expect(
      (await request(`/api/dispatch?output=${invocation.id}`, { anonymous: true })).status,
    ).toBe(401);
    expect((await request(`/api/dispatch?output=${invocation.id}&offset=-1`)).json.error).toBe(
      "invalid_offset",
    );
    expect((await request(`/api/dispatch?output=${invocation.id}&offset=99999`)).json).toEqual({
      output: "",
      next: null,
    });
  });
});

describe("shape mode", () => {
  it("returns the outbound request without its credential and fires nothing", async () => {
    await put({
      key: "GUARDED",
      type: "http",
      target: `POST ${upstream}/echo\nx-team: $1`,
      auth: "bearer:TEST_BEARER",
      content: '{"note":"$2"}',
    });
    const before = (await request("/api/ledger?limit=1")).json.events[0].seq;
    const answer = await call("GUARDED", "red|hi", { shape: true });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ ok: true, ran: false, key: "GUARDED" });
    expect(answer.json.shape).toMatchObject({
      method: "POST",
      url: `${upstream}/echo`,
      body: '{"note":"hi"}',
    });
    expect(answer.text).not.toContain("s3cr3t");
    expect((await request("/api/ledger?limit=1")).json.events[0].seq).toBe(before);
  });

  it("shows the arguments of a function", async () => {
    expect((await call("PAIR", "a|b", { shape: true })).json.shape).toMatchObject({
      function: "echo",
      arguments: ["a", "b"],
    });
  });
});

describe("discovery switched to credentialed", () => {
  it("is a setting of the deployment, public by default", async () => {
    expect((env as { DISCOVERY?: string }).DISCOVERY).toBe("public");
    expect((await request("/api/dispatch?key=SAY", { anonymous: true })).status).toBe(200);
  });
});
