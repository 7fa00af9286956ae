import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRequest, parseTarget } from "../../src/core/request.ts";
import { nasty, objectSchema, ofArgs, ofPieces } from "../support/arguments.ts";
import { built } from "../support/request.ts";

const wellFormed = nasty.map((text) => text.toWellFormed());

describe("a target", () => {
  it("is a method, a url and header lines", () => {
    expect(
      parseTarget("get https://api.example.com/x?q=$1\r\nAccept: text/plain\n\nX-Id:  $2 "),
    ).toEqual({
      ok: true,
      method: "GET",
      url: "https://api.example.com/x?q=$1",
      headers: [
        ["Accept", "text/plain"],
        ["X-Id", "$2"],
      ],
    });
  });

  it.each([
    "GET $1",
    "GET $$url",
    "GET /healthz",
    "GET /$1",
    "PATCH https://$1.example.com:$2/x",
    "PURGE http://h",
    "GET https://$1/x",
    "GET https://{region}.example.com{/path*}{?q}",
  ])("may be %s", (target) => {
    expect(parseTarget(target).ok).toBe(true);
  });

  it.each([
    null,
    "",
    "GET",
    "https://h/",
    "GET ftp://h/",
    "GET //h/x",
    "GET /\\h",
    "GET https:///x",
    "GET h/x",
    "GET $1/x",
    "GET $1://h/",
    "GET http$1://h/",
    "GET https://h/ x",
    "G$T https://h/",
    "CONNECT https://h/",
    "TRACE https://h/",
    "GET https://h\\@e/",
    "GET https://h/\nHost: x",
    "GET https://h/\ncontent-length: 1",
    "GET https://h/\nTransfer-Encoding: chunked",
    "GET https://h/\nConnection: close",
    "GET https://h/\nCOOKIE : a=b",
    "GET https://h/\nno colon",
    "GET https://h/\n$1: x",
    "GET https://h/\nX-A: ć",
    "GET https://[/",
    "GET {+url}/x",
  ])("may not be %j", (target) => {
    const parsed = parseTarget(target);
    expect(parsed.ok).toBe(false);
    const request = buildRequest(target, "", ofPieces("x"));
    expect(request).toEqual({
      ok: false,
      error: `ERR:http:bad_target:${parsed.ok ? "" : parsed.reason}`,
    });
  });
});

describe("a value in a header", () => {
  const target = "POST https://h/x\nX-User: <$1>\nX-Raw: $$2";

  it.each(["Marić", "Müller", "日本", "a\r\nX: y", "a\nb", "a\0", "a\tb", "\x7f"])(
    "may not be %j",
    (value) => {
      expect(built(target, ofPieces(value, "x"))).toBe("ERR:http:bad_header_argument");
      expect(built(target, ofPieces("x", value))).toBe("ERR:http:bad_header_argument");
    },
  );

  it("adds no header and moves no other", () => {
    fc.assert(
      fc.property(wellFormed, wellFormed, (a, b) => {
        const request = built(target, ofPieces(a, b));
        if (typeof request === "string") {
          expect(request).toBe("ERR:http:bad_header_argument");
          return;
        }
        expect(request.headers).toEqual([
          ["X-User", `<${a}>`],
          ["X-Raw", b],
        ]);
        expect([...new Headers(request.headers)]).toHaveLength(2);
      }),
      { numRuns: 300 },
    );
  });

  it("drops its line when optional and absent", () => {
    const request = built(
      "GET https://h/x\nX-A: $a\nX-B: b$a\nX-C: {a}",
      ofArgs({}, objectSchema({ a: {} })),
    );
    expect(request).toMatchObject({ headers: [["X-B", "b"]] });
  });
});

describe("a body", () => {
  it.each([
    ['{"a":"$1"}', '{"a":"x\\"y"}', "application/json"],
    ["Hello $1", 'Hello x"y', "text/plain"],
    ["$2+", '{"content":"a|b"}', "application/json"],
    ["$1", 'x"y', "text/plain"],
  ])("%s sends the type of what it is", (payload, body, type) => {
    expect(built("POST https://h/x", ofPieces('x"y', '{"content":"a', 'b"}'), payload)).toEqual({
      method: "POST",
      url: "https://h/x",
      headers: [["content-type", type]],
      body,
    });
  });

  it("is escaped by the type that a header line states", () => {
    const form = built(
      "POST https://h/x\nContent-Type: application/x-www-form-urlencoded",
      ofPieces("a&b"),
      "t=$1",
    );
    expect(form).toMatchObject({
      headers: [["Content-Type", "application/x-www-form-urlencoded"]],
      body: "t=a%26b",
    });
    const lines = built(
      "POST https://h/x\ncontent-type: application/x-ndjson",
      ofPieces('"}'),
      '{"i":{}}\n{"t":"$1"}',
    );
    expect(lines).toMatchObject({ body: '{"i":{}}\n{"t":"\\"}"}' });
  });

  it("is not sent by GET and HEAD, nor when it is empty", () => {
    for (const method of ["GET", "HEAD"]) {
      expect(built(`${method} https://h/x`, ofPieces("v"), '{"a":"$1"}')).toMatchObject({
        body: null,
        headers: [],
      });
    }
    expect(built("POST https://h/x", ofPieces("v"))).toMatchObject({ body: null, headers: [] });
    expect(built("POST https://h/x", ofPieces(""), "$1")).toMatchObject({
      body: null,
      headers: [],
    });
  });
});
