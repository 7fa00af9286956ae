import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import type { Auth } from "../../src/core/auth.ts";
import type { Credential, RunResult } from "../../src/core/call.ts";
import type { RequestDraft } from "../../src/core/request.ts";
import { send } from "../../src/outbound/send.ts";
import { credentialOf, makePorts } from "../support/ports.ts";

const upstream = inject("upstream");
const host = new URL(upstream).host;
const { TEST_BEARER, TEST_BASIC } = env as unknown as { TEST_BEARER: string; TEST_BASIC: string };
const BEARER: Auth = { form: "bearer", name: "TEST_BEARER" };

function go(
  path: string,
  credential: Credential,
  more: Partial<RequestDraft> = {},
): Promise<RunResult> {
  const request: RequestDraft = {
    method: "GET",
    url: path.startsWith("/") ? upstream + path : path,
    headers: [],
    body: null,
    ...more,
  };
  return send(makePorts({ HTTP_TIMEOUT_MS: "500" }, ["http://127.0.0.1:1"]), request, credential, {
    key: "ROW",
    origin: "https://example.com",
  });
}

/** The request as it would leave, seen where the network begins. */
async function leaving(credential: Credential): Promise<Headers> {
  let headers = new Headers();
  const ports = {
    ...makePorts(),
    fetch: async (request: Request) => {
      headers = request.headers;
      return new Response("ok");
    },
  };
  const request: RequestDraft = {
    method: "GET",
    url: `${upstream}/echo`,
    headers: [["authorization", "mine"]],
    body: null,
  };
  await send(ports, request, credential, { key: "ROW", origin: "https://example.com" });
  return headers;
}

describe("a bound secret", () => {
  it("arrives, and the echo of it is redacted", async () => {
    const sent = await go("/echo", credentialOf(BEARER, "TEST_BEARER", TEST_BEARER, [host]));
    expect(sent).toMatchObject({ ok: true, signal: "healthy" });
    expect(sent.result).toContain('"authorization":"Bearer [redacted:TEST_BEARER]"');
    expect(sent.auth).toBeUndefined();
  });

  it("arrives to the letter with dollar patterns in it", async () => {
    const value = "pa$&ss$$w$'x$1";
    const headers = await leaving(credentialOf(BEARER, "TEST_BEARER", value, [host]));
    expect(headers.get("authorization")).toBe(`Bearer ${value}`);
  });

  it("of basic auth is split by nobody here, and its echo is redacted", async () => {
    const basic = credentialOf({ form: "basic", name: "TEST_BASIC" }, "TEST_BASIC", TEST_BASIC, [
      host,
    ]);
    expect((await leaving(basic)).get("authorization")).toBe(`Basic ${btoa("ada:pa:ss")}`);
    expect((await go("/echo", basic)).result).toContain(
      '"authorization":"Basic [redacted:TEST_BASIC]"',
    );
  });

  it.each([
    ["bearer", BEARER, "/leak"],
    ["query", { form: "query", parameter: "api_key", name: "TEST_BEARER" } satisfies Auth, "/leak"],
    [
      "query against a closed port",
      { form: "query", parameter: "api_key", name: "TEST_BEARER" } satisfies Auth,
      "http://127.0.0.1:1/x",
    ],
    [
      "query into a time-out",
      { form: "query", parameter: "api_key", name: "TEST_BEARER" } satisfies Auth,
      "/mute/s1",
    ],
  ] as const)("occurs nowhere in the result of %s", async (_name, auth, path) => {
    const sent = await go(
      path,
      credentialOf(auth, "TEST_BEARER", TEST_BEARER, [host, "127.0.0.1:1"]),
    );
    expect(sent.ok).toBe(false);
    expect(sent.result).toMatch(/^ERR:http:(401:|fetch:|timeout:500)/);
    for (const spelling of [TEST_BEARER, btoa(TEST_BEARER), btoa(`${TEST_BEARER}:`)])
      expect(JSON.stringify(sent)).not.toContain(spelling);
  });

  it("is not given away by the cut of a long body", async () => {
    const ports = makePorts({ MAX_RESPONSE_BYTES: "20" });
    const request: RequestDraft = {
      method: "GET",
      url: `${upstream}/status/200?body=0123456789${TEST_BEARER}`,
      headers: [],
      body: null,
    };
    const sent = await send(
      ports,
      request,
      credentialOf(BEARER, "TEST_BEARER", TEST_BEARER, [host]),
      { key: "ROW", origin: "https://example.com" },
    );
    expect(sent).toMatchObject({
      result: "HTTP 200:0123456789[redacted:TEST_BEARER]",
      truncated: true,
    });
  });

  it("is redacted inside an answer that comes as base64", async () => {
    const hex = Buffer.from(`abc${TEST_BEARER}def`).toString("hex");
    const sent = await go(
      `/bytes?type=application/octet-stream&hex=${hex}`,
      credentialOf(BEARER, "TEST_BEARER", TEST_BEARER, [host]),
    );
    expect(sent.result).toMatch(
      /^HTTP 200:base64:application\/octet-stream:.*\[redacted:TEST_BEARER\]/,
    );
  });

  it.each([
    ["s3\ncr3t", "secret TEST_BEARER contains a line break"],
    ["日本-secret", "secret TEST_BEARER contains a character that a header cannot carry"],
  ])("of %j is not sent and not shown", async (value, reason) => {
    const sent = await go("/echo", credentialOf(BEARER, "TEST_BEARER", value, [host]));
    expect(sent).toEqual({ ok: false, result: `ERR:http:ROW:ERR:auth:${reason}`, attempts: 1 });
  });
});

describe("a secret that is not bound", () => {
  it.each([[[]], [["api.x.ai"]], [["127.0.0.1"]]])("to more than %j is not sent", async (hosts) => {
    const sent = await go(
      "/status/200?id=unbound",
      credentialOf(BEARER, "TEST_BEARER", TEST_BEARER, hosts),
    );
    expect(sent).toEqual({
      ok: false,
      result: `ERR:http:ROW:ERR:auth:host_not_bound:TEST_BEARER:${host}`,
      attempts: 1,
    });
    expect(await (await fetch(`${upstream}/count/unbound`)).text()).toBe("0");
  });

  it("does not go over plain http to a host bound without a port", async () => {
    const sent = await go(
      "http://api.x.ai/v1",
      credentialOf(BEARER, "TEST_BEARER", TEST_BEARER, ["api.x.ai"]),
    );
    expect(sent.result).toBe("ERR:http:ROW:ERR:auth:host_not_bound:TEST_BEARER:api.x.ai");
  });

  it("matters not while it has no value: nothing is applied, and the owner is told", async () => {
    const sent = await go("/echo", credentialOf(BEARER, "TEST_BEARER", null, []));
    expect(sent).toMatchObject({ ok: true, auth: { name: "TEST_BEARER", present: false } });
    expect(sent.result).not.toContain('"authorization"');
  });
});

describe("a refused target", () => {
  it.each([
    ["http://2130706433/", "127.0.0.1"],
    ["http://127.0.0.1:1234/", "127.0.0.1:1234"],
    ["http://[::1]/", "[::1]"],
    ["http://metadata.google.internal./", "metadata.google.internal."],
    ["https://example.com/healthz", "example.com"],
    ["file:///etc/passwd", "file:"],
  ])("%s is named and nothing is sent, with no word about the secret", async (url, blocked) => {
    const sent = await go(url, credentialOf(BEARER, "TEST_BEARER", TEST_BEARER, []));
    expect(sent).toEqual({ ok: false, result: `ERR:http:blocked_host:${blocked}`, attempts: 1 });
  });

  it("that is no URL is an error", async () => {
    expect((await go("nonsense", credentialOf(BEARER, "TEST_BEARER", null, []))).result).toBe(
      "ERR:http:fetch:the target is not a URL",
    );
  });
});
