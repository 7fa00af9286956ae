import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rfc8785, sha256Hex } from "../../src/core/canonical.ts";
import { parseDocstring } from "../../src/core/docstring.ts";
import { fingerprintOf, type FingerprintFacts } from "../../src/core/fingerprint.ts";
import type { Row } from "../../src/core/row.ts";

const ROW: Row = {
  key: "WEATHER",
  type: "http",
  target: "GET https://api.example.com/$1",
  auth: "bearer:WEATHER_KEY",
  content: "# WHAT: tells the weather\n# ARGS: $1=city\n# EX: [WEATHER]Oslo[/WEATHER]\n$1",
  updated_at: "2026-01-01T00:00:00.000Z",
  category: "weather",
  allowed_categories: null,
  seq: null,
  enabled: 1,
  planner_visible: 1,
  planner_rank: 100,
  input_schema: '{"type":"object","properties":{"city":{"type":"string"}}}',
  examples: '["Oslo"]',
  sensitive: 0,
  runner: null,
  includes: null,
  created_at: null,
};
const FACTS: FingerprintFacts = { operation: "read", includes: null };

const print = (change: Partial<Row> = {}, facts: Partial<FingerprintFacts> = {}): string => {
  const row = { ...ROW, ...change };
  return fingerprintOf(row, parseDocstring(row.content), { ...FACTS, ...facts });
};

describe("the contract fingerprint", () => {
  it("is the hash of the RFC 8785 form of exactly the members of the specification", () => {
    const members = {
      key: "WEATHER",
      object: "capability",
      runner: null,
      type: "http",
      category: "weather",
      target: "GET https://api.example.com/$1",
      what: "tells the weather",
      payload: "$1",
      input_schema: { type: "object", properties: { city: { type: "string" } } },
      auth: "bearer:WEATHER_KEY",
      risk: "low",
      approval: "none",
      enabled: true,
      operation: "read",
      includes: null,
    };
    expect(print()).toBe(sha256Hex(rfc8785(members)));
  });

  const text = fc.string({ unit: "binary", maxLength: 40 });
  const line = text.map((value) => value.replace(/[\r\n]/g, " "));
  const documentation: Record<string, fc.Arbitrary<Partial<Row>>> = {
    examples: text.map((examples) => ({ examples })),
    planner_rank: fc.integer().map((planner_rank) => ({ planner_rank })),
    planner_visible: fc.constant({ planner_visible: 0 }),
    seq: fc.integer().map((seq) => ({ seq })),
    allowed_categories: text.map((allowed_categories) => ({ allowed_categories })),
    created_at: text.map((created_at) => ({ created_at })),
    updated_at: text.map((updated_at) => ({ updated_at })),
    ...Object.fromEntries(
      ["WHEN_TO_USE", "ARGS", "EX", "OUTPUT", "GOVERNOR"].map((label) => [
        label,
        line.map((value) => ({ content: `# WHAT: tells the weather\n# ${label}: ${value}\n$1` })),
      ]),
    ),
  };

  it.each(Object.entries(documentation))("stays when only %s changes", (_name, change) => {
    fc.assert(
      fc.property(change, (columns) => print(columns) === print()),
      { numRuns: 100 },
    );
  });

  const other = (value: string | null) => fc.option(text).filter((next) => next !== value);
  const meaning: Record<string, fc.Arbitrary<Partial<Row>>> = {
    key: fc.constantFrom("WEATHER_2", "weather", "W").map((key) => ({ key })),
    type: fc.constantFrom("fn", "agent", "flow").map((type) => ({ type }) as Partial<Row>),
    runner: other(ROW.runner).map((runner) => ({ runner })),
    category: other(ROW.category).map((category) => ({ category })),
    target: other(ROW.target).map((target) => ({ target })),
    auth: other(ROW.auth).map((auth) => ({ auth })),
    input_schema: other(ROW.input_schema).map((input_schema) => ({ input_schema })),
    sensitive: fc.constant({ sensitive: 1 }),
    enabled: fc.constant({ enabled: 0 }),
    what: line
      .filter((value) => value.trim() !== "")
      .map((value) => ({ content: `# WHAT: tells the weather of ${value}\n$1` })),
    payload: line
      .filter((value) => value.trim() !== "")
      .map((value) => ({ content: `# WHAT: tells the weather\n$1 ${value}` })),
  };

  it.each(Object.entries(meaning))("changes with %s", (_name, change) => {
    fc.assert(
      fc.property(change, (columns) => print(columns) !== print()),
      { numRuns: 100 },
    );
  });

  it("changes with the operation and with each included fingerprint", () => {
    const prints = [
      print(),
      print({}, { operation: "write" }),
      print({}, { includes: [] }),
      print({}, { includes: [null] }),
      print({}, { includes: ["a".repeat(64)] }),
      print({}, { includes: ["a".repeat(64), null] }),
    ];
    expect(new Set(prints).size).toBe(prints.length);
  });

  it("does not see how a schema is spaced or ordered", () => {
    const schema = '{ "properties": {"city": {"type":"string"} },\n "type": "object" }';
    expect(print({ input_schema: schema })).toBe(print());
  });

  it.each(["", "none", "{", '{"a":1e999}', '{"a":"\\ud800"}', "[".repeat(50_000)])(
    "takes a schema that has no canonical form as its text: %.20s",
    (input_schema) => {
      expect(print({ input_schema })).toMatch(/^[0-9a-f]{64}$/);
      expect(print({ input_schema })).not.toBe(print({ input_schema: null }));
    },
  );
});
