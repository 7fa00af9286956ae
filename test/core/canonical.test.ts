import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  canonical,
  CanonicalError,
  interoperable,
  parseUnambiguous,
  rfc8785,
  sha256Hex,
} from "../../src/core/canonical.ts";
import type { Json } from "../../src/core/json.ts";

describe("the canonical form", () => {
  it("orders members by UTF-16 unit, not by code point", () => {
    const value = JSON.parse('{"\\uFB33":1,"😀":2,"é":3,"10":4,"9":5}') as Json;
    expect(canonical(value)).toBe('{"10":4,"9":5,"é":3,"😀":2,"\uFB33":1}');
  });

  it.each([
    ["333333333.33333329", "333333333.3333333"],
    ["1E30", "1e+30"],
    ["4.50", "4.5"],
    ["2e-3", "0.002"],
    ["1e-27", "1e-27"],
    ["-0", "0"],
    ["0.000001", "0.000001"],
    ["1e-7", "1e-7"],
    ["1e21", "1e+21"],
    ["9007199254740991", "9007199254740991"],
  ])("writes the number %s as %s", (given, form) => {
    expect(canonical(JSON.parse(given))).toBe(form);
  });

  it("escapes what JSON must escape and nothing else", () => {
    expect(canonical('\u0007\b\n\u001f"\\/é\u2028😀')).toBe(
      '"\\u0007\\b\\n\\u001f\\"\\\\/é\u2028😀"',
    );
  });

  it.each([2 ** 53, -(2 ** 53), 1e20, NaN, Infinity, "\ud800", undefined])(
    "refuses %s anywhere in what is signed",
    (value) => {
      expect(() => canonical(value)).toThrow(CanonicalError);
      if (value !== undefined) expect(() => canonical({ a: [value] })).toThrow(CanonicalError);
    },
  );

  it("keeps a member named __proto__", () => {
    const value = JSON.parse('{"b":1,"__proto__":{"a":2}}') as Json;
    expect(canonical(value)).toBe('{"__proto__":{"a":2},"b":1}');
    expect(canonical(interoperable(value))).toBe('{"__proto__":{"a":2},"b":1}');
  });

  it("is the plain RFC 8785 form where nothing is signed, so any other implementation agrees", () => {
    expect(rfc8785(JSON.parse('{"maximum":9223372036854775807}'))).toBe(
      '{"maximum":9223372036854776000}',
    );
  });

  it("has a nearest value for all that it refuses", () => {
    expect(interoperable({ a: 2 ** 53, b: NaN, c: "x\ud800", d: [1e20, 1.5] })).toEqual({
      a: "9007199254740992",
      b: null,
      c: "x\ufffd",
      d: ["100000000000000000000", 1.5],
    });
  });

  it("is a fixed point: reading it and writing it again changes no byte", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const form = canonical(interoperable(value as Json));
        expect(canonical(parseUnambiguous(form))).toBe(form);
      }),
      { numRuns: 300 },
    );
  });
});

describe("reading one document", () => {
  it.each([
    '{"a":1,"a":2}',
    '{"a":{"b":":","b":1}}',
    '[{"\\u0061":1,"a":2}]',
    '{"__proto__":1,"__proto__":2}',
  ])("refuses the double member in %s", (text) => {
    expect(() => parseUnambiguous(text)).toThrow("a member stands twice");
  });

  it.each(["", "{", "{'a':1}", '{"a":1}{"b":2}', "nul", '"\u0001"'])("refuses %j", (text) => {
    expect(() => parseUnambiguous(text)).toThrow("not JSON");
  });

  it("takes every document that names its members once, colons in strings or not", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(3), (value, indent) => {
        const text = JSON.stringify({ ':"\\': value, "a:": [":", '\\":'] }, null, indent);
        expect(parseUnambiguous(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  it("reads and writes a hundred thousand levels without falling over", () => {
    const depth = 100_000;
    const text = "[".repeat(depth) + "]".repeat(depth);
    expect(canonical(parseUnambiguous(text))).toBe(text);
  });
});

it("hashes text as UTF-8", () => {
  expect(sha256Hex("é")).toBe(sha256Hex(new Uint8Array([0xc3, 0xa9])));
  expect(sha256Hex("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
});
