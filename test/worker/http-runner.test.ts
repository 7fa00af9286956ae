import { describe, expect, inject, it } from "vitest";
import { readArguments } from "../../src/core/arguments.ts";
import type { Capability, Credential } from "../../src/core/call.ts";
import { MAX_DEPTH } from "../../src/core/call.ts";
import { parseDocstring } from "../../src/core/docstring.ts";
import type { Row } from "../../src/core/row.ts";
import type { InnerCaller, Ports } from "../../src/dispatch/ports.ts";
import type { RunContext } from "../../src/dispatch/runner.ts";
import { http } from "../../src/runners/http.ts";
import { credentialOf, makePorts, NO_CREDENTIAL } from "../support/ports.ts";

const upstream = inject("upstream");
const host = new URL(upstream).host;
const ORIGIN = "https://example.com";

interface Scene {
  target: string;
  payload?: string;
  body?: string;
  credential?: Credential;
  depth?: number;
  vars?: Record<string, string>;
  /** What this deployment answers from inside. */
  self?: (request: Request, caller: InnerCaller) => Promise<Response>;
}

function contextOf(scene: Scene): RunContext {
  const content = `# WHAT: calls\n${scene.payload ?? ""}`;
  const capability = {
    row: { key: "ROW", target: scene.target, content } as Row,
    doc: parseDocstring(content),
  } as Capability;
  const read = readArguments(undefined, { kind: "body", text: scene.body ?? "" });
  if (!read.ok) throw new Error("arguments");
  const inside = scene.self ?? (() => Promise.reject(new Error("nothing goes inside here")));
  const ports = { ...makePorts(scene.vars), self: { fetch: inside } } as unknown as Ports;
  const call = {
    key: "ROW",
    principal: { kind: "owner" },
    via: "http",
    trace: "t_1",
    parent: null,
    depth: scene.depth ?? 0,
    origin: ORIGIN,
  };
  return {
    ports,
    call: call as RunContext["call"],
    invocation: "inv_0_a",
    capability,
    args: read.args,
    credential: scene.credential ?? NO_CREDENTIAL,
    dispatch: () => Promise.reject(new Error("an http row calls no other row")),
  };
}

const run = (scene: Scene) => http.run(contextOf(scene));
const shape = (scene: Scene) => http.shape(contextOf(scene));

describe("an http row", () => {
  it("sends what its target, its payload and the arguments say", async () => {
    const result = await run({
      target: `POST ${upstream}/echo?q=$1\nX-Two: $2`,
      payload: '{"a":"$1"}',
      body: 'a b|"c"',
    });
    expect(result).toMatchObject({ ok: true, attempts: 1, signal: "healthy" });
    expect(JSON.parse(String(result.result).replace("HTTP 200:", ""))).toMatchObject({
      method: "POST",
      url: "/echo?q=a%20b",
      headers: { "x-two": '"c"', "content-type": "application/json" },
      body: '{"a":"a b"}',
    });
  });

  it("hands on what building the request refuses", async () => {
    expect(await run({ target: `GET ${upstream}/x/$1`, body: ".." })).toEqual({
      ok: false,
      attempts: 1,
      result: "ERR:http:bad_path_argument",
    });
  });

  it("answers with the error of its credential and sends nothing", async () => {
    const credential = { ...NO_CREDENTIAL, error: "ERR:http:ROW:ERR:auth:unknown_prefix:weird" };
    expect(await run({ target: `GET ${upstream}/echo`, credential })).toEqual({
      ok: false,
      attempts: 1,
      result: credential.error,
    });
  });

  it("sends its credential to the host it is bound to", async () => {
    const credential = credentialOf({ form: "bearer", name: "T" }, "T", "s3cr3t-bearer-value", [
      host,
    ]);
    expect((await run({ target: `GET ${upstream}/echo`, credential })).result).toContain(
      "Bearer [redacted:T]",
    );
  });
});

describe("a target on this deployment", () => {
  const hit = (scene: Partial<Scene> = {}) => {
    const seen: {
      url: string;
      method: string;
      headers: Record<string, string>;
      body: string;
      caller: InnerCaller;
    }[] = [];
    const self: Scene["self"] = async (request, caller) => {
      seen.push({
        url: request.url,
        method: request.method,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
        caller,
      });
      return new Response("inside", { status: 200 });
    };
    return run({ target: "GET /healthz", self, ...scene }).then((result) => ({ result, seen }));
  };

  it.each(["GET /healthz?a=1", `GET ${ORIGIN}/healthz?a=1`])(
    "%s is dispatched inside as the caller, one level deeper",
    async (target) => {
      const { result, seen } = await hit({ target });
      expect(result).toEqual({ ok: true, attempts: 1, result: "HTTP 200:inside" });
      expect(seen).toMatchObject([
        {
          url: `${ORIGIN}/healthz?a=1`,
          method: "GET",
          caller: { principal: { kind: "owner" }, depth: 1, trace: "t_1", parent: "inv_0_a" },
        },
      ]);
    },
  );

  it("carries the body and no credential, neither the row's nor a header line's", async () => {
    const credential = credentialOf({ form: "bearer", name: "T" }, "T", "s3cr3t-bearer-value", []);
    const { seen } = await hit({
      target: "POST /api/dispatch\nAuthorization: Bearer x\nX-Terminal-Key: y\nX-Kept: 1",
      payload: '{"key":"$1"}',
      body: "NOW",
      credential,
    });
    expect(seen[0]!.body).toBe('{"key":"NOW"}');
    expect(seen[0]!.headers).toMatchObject({ "x-kept": "1", "content-type": "application/json" });
    for (const name of ["authorization", "x-terminal-key"])
      expect(seen[0]!.headers[name]).toBeUndefined();
  });

  it("stops at the depth of eight", async () => {
    expect((await hit({ depth: MAX_DEPTH - 1 })).result.ok).toBe(true);
    const { result, seen } = await hit({ depth: MAX_DEPTH });
    expect(result).toEqual({ ok: false, attempts: 1, result: "ERR:http:depth" });
    expect(seen).toEqual([]);
  });

  it("obeys the limits of time and bytes, and tells the breaker nothing", async () => {
    const of = (response: Promise<Response>, vars: Record<string, string> = {}) =>
      run({ target: "GET /x", self: () => response, vars });
    expect(await of(Promise.resolve(new Response("who", { status: 401 })))).toEqual({
      ok: false,
      attempts: 1,
      result: "ERR:http:401:who",
    });
    expect(
      await of(Promise.resolve(new Response("0123456789")), { MAX_RESPONSE_BYTES: "4" }),
    ).toEqual({ ok: true, attempts: 1, result: "HTTP 200:0123", truncated: true });
    expect(await of(new Promise(() => undefined), { HTTP_TIMEOUT_MS: "100" })).toEqual({
      ok: false,
      attempts: 1,
      result: "ERR:http:timeout:100",
    });
  });

  it.each([
    "GET //evil.example/x",
    "GET https://example.com.evil.example/x",
    "GET http://example.com/x",
  ])("is not %s", async (target) => {
    const { seen } = await hit({ target, vars: { HTTP_TIMEOUT_MS: "1" } });
    expect(seen).toEqual([]);
  });
});

describe("the shape of an http row", () => {
  it("is the request without its credential, and nothing is sent", async () => {
    const credential = credentialOf(
      { form: "query", parameter: "api_key", name: "T" },
      "T",
      "s3cr3t-bearer-value",
      [host],
    );
    const target = `POST ${upstream}/status/200?id=shaped&q=$1\nX-Team: a\nX-Api-Key: $1`;
    expect(await shape({ target, payload: '{"a":"$1"}', body: "b c", credential })).toEqual({
      method: "POST",
      url: `${upstream}/status/200?id=shaped&q=b%20c`,
      headers: { "X-Team": "a", "X-Api-Key": "[redacted]", "content-type": "application/json" },
      body: '{"a":"b c"}',
    });
    expect(await (await fetch(`${upstream}/count/shaped`)).text()).toBe("0");
  });

  it("resolves a path of this deployment", async () => {
    expect(await shape({ target: "GET /healthz" })).toEqual({
      method: "GET",
      url: `${ORIGIN}/healthz`,
      headers: {},
      body: null,
    });
  });
});
