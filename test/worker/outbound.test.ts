import type { RunResult } from "../../src/core/call.ts";
import { describe, expect, inject, it } from "vitest";
import { send } from "../../src/outbound/send.ts";
import { makePorts, NO_CREDENTIAL } from "../support/ports.ts";
import { draft, get, options, write } from "../support/sending.ts";

const upstream = inject("upstream");

async function seen(id: string): Promise<number> {
  return Number(await (await fetch(`${upstream}/count/${id}`)).text());
}

function echoed(sent: RunResult): {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
} {
  return JSON.parse(String(sent.result).replace(/^HTTP 200:/, ""));
}

describe("a request", () => {
  it("arrives as it was built", async () => {
    const request = draft("/echo?a=%2F&b=1", {
      method: "PATCH",
      headers: [
        ["X-One", "1"],
        ["content-type", "application/json"],
      ],
      body: '{"n":1234567890123456789}',
    });
    const sent = await send(makePorts(), request, NO_CREDENTIAL, options);
    expect(echoed(sent)).toMatchObject({
      method: "PATCH",
      url: "/echo?a=%2F&b=1",
      headers: { "x-one": "1", "content-type": "application/json" },
      body: '{"n":1234567890123456789}',
    });
    expect(sent).toMatchObject({ ok: true, attempts: 1, signal: "healthy" });
    expect(echoed(sent).headers["user-agent"]).toMatch(/^rowcall\//);
  });

  it.each(["Marić", "Müller", "日本", "a\r\nb"])(
    "is not sent with the header value %j",
    async (value) => {
      const sent = await send(
        makePorts(),
        draft("/echo", { headers: [["X-User", value]] }),
        NO_CREDENTIAL,
        options,
      );
      expect(sent).toEqual({ ok: false, result: "ERR:http:bad_header_argument", attempts: 1 });
    },
  );

  it.each([
    ["a b", "GET"],
    ["X-A", "NO METHOD"],
  ])("that is no HTTP (header %j, method %j) is an error, not a throw", async (name, method) => {
    const sent = await send(
      makePorts(),
      draft("/echo", { method, headers: [[name, "1"]] }),
      NO_CREDENTIAL,
      options,
    );
    expect(sent.result).toBe("ERR:http:fetch:the request is not well-formed HTTP");
    expect(sent.signal).toBeUndefined();
  });
});

describe("an answer", () => {
  it.each([
    ["/status/200?body=yes", true, "HTTP 200:yes", "healthy"],
    ["/status/201", true, "HTTP 201:", "healthy"],
    ["/status/202?location=/later", true, "HTTP 202:", "healthy"],
    ["/status/204", true, "HTTP 204:", "healthy"],
    ["/status/205", true, "HTTP 205:", "healthy"],
    ["/status/304", true, "HTTP 304:", "healthy"],
    ["/status/302", true, "HTTP 302:", "healthy"],
    ["/status/200?type=application/json", true, "HTTP 200:", "healthy"],
    ["/status/200?type=application/json&body=%20%20", true, "HTTP 200:  ", "healthy"],
    ["/status/400?body=no", false, "ERR:http:400:no", "healthy"],
    ["/status/401?body=who", false, "ERR:http:401:who", "auth"],
    ["/status/403", false, "ERR:http:403:", "auth"],
    ["/status/404", false, "ERR:http:404:", "healthy"],
    ["/status/500?body=oh", false, "ERR:http:500:oh", "healthy"],
  ])("to %s", async (path, ok, result, signal) => {
    expect(await get(path)).toEqual({ ok, result, attempts: 1, signal });
  });

  it("to HEAD has no body", async () => {
    const sent = await send(
      makePorts(),
      draft("/status/200?body=yes", { method: "HEAD" }),
      NO_CREDENTIAL,
      options,
    );
    expect(sent).toMatchObject({ ok: true, result: "HTTP 200:" });
  });

  it.each([
    ["type=image/png&hex=89504e47", "base64:image/png:iVBORw=="],
    ["type=application/octet-stream&hex=6869", "base64:application/octet-stream:aGk="],
    [
      "type=application/vnd.openxmlformats-officedocument.wordprocessingml.document&hex=504b",
      "base64:application/vnd.openxmlformats-officedocument.wordprocessingml.document:UEs=",
    ],
    ["hex=ff00", "base64:application/octet-stream:/wA="],
    ["hex=c3a9", "é"],
    ["type=text/plain&hex=c3a9ff", "é\ufffd"],
    ["type=text/plain;charset=iso-8859-1&hex=e9", "é"],
    ["type=text/html;charset=%22UTF-16LE%22&hex=e900", "é"],
    ["type=text/plain;charset=nonsense&hex=c3a9", "é"],
    ["type=application/problem%2Bjson&hex=7b7d", "{}"],
    ["type=application/xml&hex=3c612f3e", "<a/>"],
    ["type=image/svg%2Bxml&hex=3c612f3e", "<a/>"],
    ["type=application/x-www-form-urlencoded&hex=613d31", "a=1"],
    ["type=application/javascript&hex=31", "1"],
    ["type=application/yaml&hex=613a", "a:"],
  ])("of %s reads %j", async (query, text) => {
    expect((await get(`/bytes?${query}`)).result).toBe(`HTTP 200:${text}`);
  });
});

describe("a broken answer", () => {
  it("that is corrupt is an error in plain words", async () => {
    const sent = await write("POST", "/corrupt");
    expect(sent).toMatchObject({ ok: false, attempts: 1, signal: "transport" });
    expect(sent.result).toMatch(/^ERR:http:fetch:./);
  });

  it("names no URL", async () => {
    const sent = await get(
      "http://127.0.0.1:1/x?api_key=shh",
      makePorts({}, ["http://127.0.0.1:1"]),
    );
    expect(sent).toMatchObject({ ok: false, attempts: 3, signal: "transport" });
    expect(sent.result).toMatch(/^ERR:http:fetch:[^/?=]+$/);
  });
});

describe("trying again", () => {
  it.each([429, 502, 503, 504, 0])("helps a GET over two failures of %i", async (status) => {
    const ports = makePorts();
    expect(await get(`/flaky/g${status}?fail=2&status=${status}`, ports)).toEqual({
      ok: true,
      result: "HTTP 200:ok 3",
      attempts: 3,
      signal: "healthy",
    });
    expect(ports.slept).toEqual([200, 400]);
  });

  it("ends after the third try, and the last answer stands", async () => {
    expect(await get("/flaky/g9?fail=9&status=503")).toEqual({
      ok: false,
      result: "ERR:http:503:failed 3",
      attempts: 3,
      signal: "transport",
    });
    expect(await get("/reset?id=g10")).toMatchObject({
      ok: false,
      attempts: 3,
      signal: "transport",
    });
    expect(await seen("g10")).toBe(3);
  });

  it.each(["POST", "PUT", "PATCH", "DELETE"])("is never done with %s", async (method) => {
    expect(await write(method, `/flaky/${method}-a?fail=1&status=503`)).toMatchObject({
      result: "ERR:http:503:failed 1",
      attempts: 1,
    });
    expect(await write(method, `/reset?id=${method}-b`)).toMatchObject({
      ok: false,
      attempts: 1,
      signal: "transport",
    });
    expect([await seen(`${method}-a`), await seen(`${method}-b`)]).toEqual([1, 1]);
  });

  it.each(["400", "401", "404", "500"])("is not done after %s", async (status) => {
    expect((await get(`/flaky/n${status}?status=${status}`)).attempts).toBe(1);
  });

  it("waits as long as Retry-After asks, up to five seconds", async () => {
    const ports = makePorts();
    expect((await get("/flaky/r1?status=429&retry-after=5", ports)).attempts).toBe(2);
    expect((await get("/flaky/r2?status=503&retry-after=0", ports)).attempts).toBe(2);
    expect((await get("/flaky/r3?status=503&retry-after=soon", ports)).attempts).toBe(2);
    expect(
      (
        await get(
          `/flaky/r4?status=503&retry-after=${encodeURIComponent(new Date(0).toUTCString())}`,
          ports,
        )
      ).attempts,
    ).toBe(2);
    expect(ports.slept).toEqual([5000, 0, 200, 0]);
    expect(await get("/flaky/r5?status=429&retry-after=6", ports)).toMatchObject({
      result: "ERR:http:429:failed 1",
      attempts: 1,
      retryAfter: "6",
    });
    expect(
      (
        await get(
          `/flaky/r6?status=503&retry-after=${encodeURIComponent(new Date(4e12).toUTCString())}`,
          ports,
        )
      ).attempts,
    ).toBe(1);
  });
});
