import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { nasty, objectSchema, ofArgs, ofBody, ofPieces } from "../support/arguments.ts";
import { built, urlOf } from "../support/request.ts";

const wellFormed = nasty.map((text) => text.toWellFormed());

describe("a value in the path", () => {
  const target = "GET https://api.example.com/v1/items/$1/detail";

  it.each([
    ["../../admin", "..%2F..%2Fadmin"],
    ["%2e%2e", "%252e%252e"],
    ["a?x=1#f", "a%3Fx%3D1%23f"],
    ["a/b", "a%2Fb"],
    ["\\\\evil.example.net", "%5C%5Cevil.example.net"],
    ["@evil.example.net", "%40evil.example.net"],
    ["...", "..."],
    ["ok\ud83d", "ok%EF%BF%BD"],
  ])("%j is one segment", (value, segment) => {
    expect(urlOf(target, ofPieces(value))).toBe(
      `https://api.example.com/v1/items/${segment}/detail`,
    );
  });

  it.each([
    [target, ["."]],
    [target, [".."]],
    ["GET https://h/a/.$1", ["."]],
    ["GET https://h/a/%2E$1/b", ["."]],
    ["GET https://h/$1$2", [".", "."]],
    ["GET https://h/a/$$1", [".\t."]],
    ["GET https://h/a/$$1", ["..\\admin"]],
    ["GET https://h/a/$$1", ["x/%2e%2E/y"]],
    ["GET https://h/a/$$1", [".. "]],
    ["GET https://h/a/$$1", ["..?x"]],
    ["GET https://h/a/$$1?q", ["x/.\n./y"]],
    ["GET https://h/a{/p*}", [".."]],
    ["GET /$$1", ["/evil.example.net"]],
    ["GET /$1/evil.example.net", [""]],
    ["GET /$$1", ["\\evil.example.net"]],
  ])("may not climb or leave: %s with %j", (template, pieces) => {
    const args = template.includes("{") ? ofArgs({ p: ["a", ...pieces] }) : ofPieces(...pieces);
    expect(built(template, args)).toBe("ERR:http:bad_path_argument");
  });

  it("keeps origin, segments, query and fragment of the template, or nothing is sent", () => {
    fc.assert(
      fc.property(wellFormed, wellFormed, wellFormed, (a, b, c) => {
        const result = urlOf(
          "GET https://api.example.com/v1/$1/x-$2?q=$3&fixed=a%20b&r=$1#$2",
          ofPieces(a, b, c),
        );
        if (result.startsWith("ERR:")) {
          expect(result).toBe("ERR:http:bad_path_argument");
          expect(
            ["", "x-"]
              .map((prefix) => prefix + (prefix ? b : a))
              .some((text) => text === "." || text === ".."),
          ).toBe(true);
          return;
        }
        const url = new URL(result);
        expect(url.origin).toBe("https://api.example.com");
        expect(url.pathname.split("/").map(decodeURIComponent)).toEqual(["", "v1", a, `x-${b}`]);
        expect([...url.searchParams]).toEqual([
          ["q", c],
          ["fixed", "a b"],
          ["r", a],
        ]);
        expect(decodeURIComponent(url.hash.slice(1))).toBe(b);
      }),
      { numRuns: 500 },
    );
  });

  it("never changes the origin or climbs, raw and RFC 6570 slots included", () => {
    const templates = [
      "https://h.example/a/$$1/b?$$1",
      "https://h.example/a{+x}",
      "https://h.example{/x*}{?x*}{#x}",
      "/a/$$1",
    ];
    fc.assert(
      fc.property(fc.constantFrom(...templates), wellFormed, (template, value) => {
        const result = urlOf(`GET ${template}`, ofArgs({ x: value }));
        if (result.startsWith("ERR:")) return;
        const url = new URL(result, "http://own.example");
        expect(url.host).toBe(template.startsWith("/") ? "own.example" : "h.example");
        if (template.includes("/a")) expect(url.pathname.startsWith("/a")).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a value in the query", () => {
  it("is encoded once, and what the template encodes stays", () => {
    expect(
      urlOf("GET https://api.example.com/s?q=$1&fixed=a%20b", ofPieces("100%25 & a+b é")),
    ).toBe("https://api.example.com/s?q=100%2525%20%26%20a%2Bb%20%C3%A9&fixed=a%20b");
    expect(urlOf("GET https://h/s?q=$1", ofPieces("!'()*-._~"))).toBe(
      "https://h/s?q=%21%27%28%29%2A-._~",
    );
  });

  it("keeps the digits of a long number", () => {
    expect(urlOf("GET https://h/s?id=$1", ofBody("2574604874062343519"))).toBe(
      "https://h/s?id=2574604874062343519",
    );
  });

  it.each([
    "GET https://h/x?a=$a&b=$b&c=$c",
    "GET https://h/x?a=$1&b=$2&c=$3",
    "GET https://h/x{?a,b,c}",
    "GET https://h/x?a={a}&b={b}{&c}",
  ])("leaves no trace when optional and absent: %s", (target) => {
    const schema = objectSchema({ a: {}, b: {}, c: {} });
    for (const args of [{}, { a: null }, { a: [] }, { a: "" }] as JsonObject[])
      expect(urlOf(target, ofArgs(args, schema))).toBe("https://h/x");
    expect(urlOf(target, ofArgs({ a: "", b: 0, c: false }, schema))).toBe(
      "https://h/x?b=0&c=false",
    );
    expect(urlOf(target, ofArgs({ a: "null" }, schema))).toBe("https://h/x?a=null");
  });

  it("is dropped by the types of the schema as well", () => {
    const schema = objectSchema({
      due: { type: "string", format: "date" },
      parent: { type: "string" },
    });
    expect(
      urlOf(
        "GET https://api.example.com/tasks?due=$1&parent=$2",
        ofArgs({ due: "", parent: null }, schema),
      ),
    ).toBe("https://api.example.com/tasks");
  });

  it("stays empty without a schema, and when required", () => {
    expect(urlOf("GET https://h/x?latitude=$1&longitude=$2", ofBody("5"))).toBe(
      "https://h/x?latitude=5&longitude=",
    );
    expect(urlOf("GET https://h/x?a=$a", ofArgs({ a: "" }, objectSchema({ a: {} }, ["a"])))).toBe(
      "https://h/x?a=",
    );
  });

  it("expands by RFC 6570, lists and objects included", () => {
    const args = ofArgs({
      list: ["a", "b c", null],
      map: { k: { z: 1 }, gone: null },
      text: "😀b",
      big: 1e21,
      yes: true,
    });
    expect(urlOf("GET https://h{/list*}{?list*}{&list,big,yes}{&map*}", args)).toBe(
      "https://h/a/b%20c?list=a&list=b%20c&list=a,b%20c&big=1e%2B21&yes=true&k=%7B%22z%22%3A1%7D",
    );
    expect(urlOf("GET https://h/{text:1}/{+text}{/constructor,__proto__}", args)).toBe(
      "https://h/%F0%9F%98%80/%F0%9F%98%80b",
    );
  });
});

describe("a value in the host", () => {
  it("is letters, digits, dots and dashes, raw slots included", () => {
    expect(urlOf("GET https://$1.example.com:$2/x", ofPieces("eu-1.b", "8443"))).toBe(
      "https://eu-1.b.example.com:8443/x",
    );
    for (const value of [
      "",
      "a/b",
      "a@b",
      "a:b",
      "a#",
      "a?",
      "é",
      "a%2f",
      "a b",
      "a\\b",
      "a\n",
      "[::1]",
    ]) {
      for (const slot of ["$1", "$$1"])
        expect(built(`GET https://${slot}/x`, ofPieces(value)), value).toBe(
          "ERR:http:bad_host_argument",
        );
    }
    expect(built("GET https://h:$1/x", ofPieces("99999"))).toBe("ERR:http:bad_host_argument");
  });

  it("is free when the slot is the whole url, for the way out to judge", () => {
    expect(urlOf("GET $1", ofPieces("http://a.example/b?c"))).toBe("http://a.example/b?c");
    expect(urlOf("GET $1", ofPieces("not a url"))).toMatch(/^ERR:http:bad_target:/);
  });
});
