import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../src/core/json.ts";
import {
  isExactNumber,
  isJsonText,
  parseExact,
  readPointer,
  stringifyExact,
} from "../../src/core/json-text.ts";

describe("exact JSON", () => {
  it.each([
    "2574604874062343519",
    "-9007199254740993",
    "1e400",
    "0.12345678901234567890123",
    "123456789012345678901234567890",
    "1e-9999999999",
  ])("keeps the digits of %s", (digits) => {
    expect(isExactNumber(parseExact(digits))).toBe(true);
    expect(stringifyExact(parseExact(`{"id":[${digits}]}`))).toBe(`{"id":[${digits}]}`);
  });

  it.each([
    "0",
    "-0",
    "-0.000",
    "1.50",
    "1E3",
    "1e+21",
    "9007199254740991",
    "9007199254740992",
    "0.1",
    "1e-7",
    "100000000000000000000",
    "1.7976931348623157e308",
  ])("reads %s as an ordinary number", (text) => {
    expect(parseExact(text)).toBe(Number(text));
  });

  it("reads whatever JSON.stringify writes as JSON.parse does", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(parseExact(text)).toEqual(JSON.parse(text));
        expect(stringifyExact(parseExact(text))).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps a member named __proto__ a member", () => {
    for (const digits of ["1", "9007199254740993"]) {
      const value = parseExact(`{"__proto__":{"admin":${digits}},"q":"x"}`) as {
        [name: string]: Json;
      };
      expect(Object.keys(value)).toEqual(["__proto__", "q"]);
      expect("admin" in value).toBe(false);
    }
    expect("admin" in {}).toBe(false);
  });

  it("refuses what is no JSON and what nests beyond the stack, and says so with a SyntaxError", () => {
    for (const text of [
      "",
      "{",
      "01",
      "'a'",
      "[".repeat(100_000),
      `${"[".repeat(300)}${"]".repeat(300)}`,
      '{"a":'.repeat(5_000),
    ]) {
      expect(() => parseExact(text)).toThrow(SyntaxError);
      expect(isJsonText(text)).toBe(false);
    }
    expect(isJsonText(`"${"[".repeat(1_000)}"`)).toBe(true);
    expect(isJsonText(`${"[".repeat(256)}${"]".repeat(256)}`)).toBe(true);
  });

  it("reads a number of a million digits in linear time", () => {
    expect(isExactNumber(parseExact(`1${"0".repeat(1_000_000)}1`))).toBe(true);
    expect(isExactNumber(parseExact(`1e${"9".repeat(1_000_000)}`))).toBe(true);
  });
});

describe("a JSON pointer", () => {
  // The examples of RFC 6901, section 5.
  const document = parseExact(
    '{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\\\j":5,"k\\"l":6," ":7,"m~n":8,"big":9007199254740993}',
  );

  it.each<[string, Json]>([
    ["/foo", ["bar", "baz"]],
    ["/foo/0", "bar"],
    ["/", 0],
    ["/a~1b", 1],
    ["/c%d", 2],
    ["/e^f", 3],
    ["/g|h", 4],
    ["/i\\j", 5],
    ['/k"l', 6],
    ["/ ", 7],
    ["/m~0n", 8],
  ])("%s finds its value", (pointer, value) => {
    expect(readPointer(document, pointer)).toEqual(value);
  });

  it.each([
    "foo",
    "/foo/2",
    "/foo/-",
    "/foo/01",
    "/foo/length",
    "/__proto__",
    "/constructor",
    "/m~n",
    "/m~2n",
    "/foo/0/0",
    "/big/rawJSON",
  ])("%s leads nowhere", (pointer) => {
    expect(readPointer(document, pointer)).toBeUndefined();
  });

  it("that is empty is the whole document", () => {
    expect(readPointer(document, "")).toBe(document);
  });
});
