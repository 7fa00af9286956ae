import { beforeAll, describe, expect, inject, it } from "vitest";
import type { Credential, RunResult } from "../../src/core/call.ts";
import type { RequestDraft } from "../../src/core/request.ts";
import { send } from "../../src/outbound/send.ts";
import { credentialOf, makePorts, NO_CREDENTIAL } from "../support/ports.ts";

const upstream = inject("upstream");
const host = new URL(upstream).host;
const options = { key: "K", origin: "https://example.com" };
let elsewhere = "";

beforeAll(async () => {
  elsewhere = await (await fetch(`${upstream}/elsewhere`)).text();
});

function to(code: number, target: string): string {
  return `${upstream}/redirect/${code}?to=${encodeURIComponent(target)}`;
}

function go(
  url: string,
  more: Partial<RequestDraft> = {},
  credential: Credential = NO_CREDENTIAL,
): Promise<RunResult> {
  const request: RequestDraft = { method: "GET", url, headers: [], body: null, ...more };
  return send(makePorts({}, [elsewhere]), request, credential, options);
}

function echoed(sent: RunResult): {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
} {
  return JSON.parse(String(sent.result).replace(/^HTTP 200:/, ""));
}

const bearer = () =>
  credentialOf({ form: "bearer", name: "T" }, "T", "s3cr3t-bearer-value", [host]);
const query = () =>
  credentialOf({ form: "query", parameter: "api_key", name: "T" }, "T", "s3cr3t-bearer-value", [
    host,
  ]);
const post = {
  method: "POST",
  headers: [
    ["content-type", "text/plain"],
    ["X-Kept", "1"],
  ] as [string, string][],
  body: "hello",
};

describe("a redirect", () => {
  it.each([301, 302, 303, 307, 308])("of %i is followed", async (code) => {
    const sent = await go(to(code, "/echo?there"));
    expect(echoed(sent)).toMatchObject({ method: "GET", url: "/echo?there" });
    expect(sent.attempts).toBe(2);
  });

  it.each([301, 302, 303])("of %i turns POST into GET without a body", async (code) => {
    const { method, headers, body } = echoed(await go(to(code, "/echo"), post));
    expect({ method, body, type: headers["content-type"], kept: headers["x-kept"] }).toEqual({
      method: "GET",
      body: "",
      type: undefined,
      kept: "1",
    });
  });

  it.each([307, 308])("of %i keeps method and body on the same origin", async (code) => {
    expect(echoed(await go(to(code, "/echo"), post))).toMatchObject({
      method: "POST",
      body: "hello",
    });
  });

  it.each([307, 308])(
    "of %i with a body to another origin is the result, with its Location",
    async (code) => {
      const target = `${elsewhere}/echo`;
      expect(await go(to(code, target), post)).toEqual({
        ok: true,
        result: `HTTP ${code}:${target}`,
        attempts: 1,
        signal: "healthy",
      });
    },
  );

  it("keeps PUT and its body through 301, and so does not carry it to another origin", async () => {
    const put = { ...post, method: "PUT" };
    expect(echoed(await go(to(301, "/echo"), put))).toMatchObject({ method: "PUT", body: "hello" });
    expect((await go(to(301, `${elsewhere}/echo`), put)).result).toBe(`HTTP 301:${elsewhere}/echo`);
  });

  it("keeps HEAD through 303", async () => {
    expect((await go(to(303, "/echo"), { method: "HEAD" })).result).toBe("HTTP 200:");
  });

  it("is followed five times and not a sixth", async () => {
    expect(await go(`${upstream}/chain/5`)).toMatchObject({
      ok: true,
      result: "HTTP 200:the end",
      attempts: 6,
    });
    expect(await go(`${upstream}/chain/6`)).toMatchObject({
      ok: false,
      result: "ERR:http:fetch:too many redirects",
      attempts: 6,
    });
  });

  it("whose Location is no URL is the answer itself", async () => {
    expect(await go(to(302, "http://["))).toMatchObject({ ok: true, result: "HTTP 302:moved" });
  });

  it.each([
    ["http://127.0.0.1:1/", "127.0.0.1:1"],
    ["http://169.254.169.254/latest", "169.254.169.254"],
    ["http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]"],
    ["http://localhost./", "localhost."],
    ["file:///etc/passwd", "file:"],
    ["https://user:pw@api.example.org/", "api.example.org"],
    ["https://example.com/api/dispatch?invoke=X", "example.com"],
    ["http://example.com/", "example.com"],
    ["https://example.com./", "example.com."],
  ])("to %s is refused before it is sent", async (target, blocked) => {
    for (const code of [302, 307, 308]) {
      expect(await go(to(code, target))).toEqual({
        ok: false,
        result: `ERR:http:blocked_host:${blocked}`,
        attempts: 1,
        signal: "healthy",
      });
    }
  });
});

describe("a credential on the way", () => {
  it("stays while the origin stays, in a header and in the query", async () => {
    expect(echoedHeaders(await go(to(302, "/echo"), {}, bearer()))).toContain("[redacted:T]");
    const sent = await go(to(302, "/echo?api_key=theirs&a=1"), {}, query());
    expect(echoed(sent).url).toBe("/echo?a=1&api_key=[redacted:T]");
  });

  it("is dropped with every credential header when the origin changes, and never comes back", async () => {
    const lines: [string, string][] = [
      ["Cookie", "sid=1"],
      ["X-Api-Key", "k"],
      ["Authorization", "Basic abc"],
      ["Accept", "text/x"],
    ];
    const { headers } = echoed(await go(to(302, `${elsewhere}/echo`), { headers: lines }));
    expect(headers).toMatchObject({ accept: "text/x" });
    for (const name of ["cookie", "x-api-key", "authorization"])
      expect(headers[name]).toBeUndefined();

    const away = await go(to(302, `${elsewhere}/echo`), {}, bearer());
    expect(echoed(away).headers.authorization).toBeUndefined();
    const back = `${elsewhere}/redirect/302?to=${encodeURIComponent(`${upstream}/echo`)}`;
    expect(echoed(await go(to(302, back), {}, bearer())).headers.authorization).toBeUndefined();
  });

  it("that an upstream wrote into its Location goes to no host it is not bound to", async () => {
    const sent = await go(to(302, `${elsewhere}/echo?k=s3cr3t-bearer-value`), {}, bearer());
    expect(sent.result).toBe(`ERR:http:K:ERR:auth:host_not_bound:T:${new URL(elsewhere).host}`);
  });
});

function echoedHeaders(sent: RunResult): string {
  return JSON.stringify(echoed(sent).headers);
}
