import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isTestShaped, KEY_PATTERN, keySpellings } from "../../src/core/row.ts";
import { decideChange, MAX_ROW_BYTES, type Current } from "../../src/core/row-change.ts";
import {
  COLUMNS,
  completeRow,
  parseObject,
  parseRowInput,
  PATCHABLE,
  refuseKey,
  WRITABLE,
} from "../../src/core/row-input.ts";

describe("the columns of a row", () => {
  it("are eighteen, in the order of the table, each with a meaning", () => {
    expect(COLUMNS.map(({ name }) => name)).toEqual([
      "key",
      "type",
      "target",
      "auth",
      "content",
      "updated_at",
      "category",
      "allowed_categories",
      "seq",
      "enabled",
      "planner_visible",
      "planner_rank",
      "input_schema",
      "examples",
      "sensitive",
      "runner",
      "includes",
      "created_at",
    ]);
    expect(COLUMNS.every(({ meaning }) => meaning.length > 10)).toBe(true);
    expect(
      COLUMNS.filter((column) => column.default !== null).map((column) => [
        column.name,
        column.default,
      ]),
    ).toEqual([
      ["enabled", 1],
      ["planner_visible", 1],
      ["planner_rank", 100],
      ["sensitive", 0],
    ]);
  });

  it("thirteen of them can be patched", () => {
    expect(PATCHABLE).toEqual([
      "type",
      "target",
      "auth",
      "content",
      "category",
      "allowed_categories",
      "seq",
      "enabled",
      "planner_visible",
      "planner_rank",
      "input_schema",
      "examples",
      "includes",
    ]);
  });
});

describe("a key", () => {
  it.each(["NOW", "_a", "a.b-c_9", "A".repeat(128)])("may be %s", (key) =>
    expect(refuseKey(key)).toBeNull(),
  );
  it.each(["", "9A", "a b", "A".repeat(129), "é", "a/b", "NOW\n", " NOW", null, 5, ["NOW"]])(
    "may not be %j",
    (key) => {
      expect(refuseKey(key)).toMatchObject({ status: 400, error: "invalid_key" });
    },
  );
  it("is looked up exact, then upper-cased", () => {
    expect(keySpellings("now")).toEqual(["now", "NOW"]);
    expect(keySpellings("NOW")).toEqual(["NOW"]);
  });
  it.each([
    ["ZZ_TEST_A", true],
    ["__A", true],
    ["A_TEST", true],
    ["ZZ_TESTA", false],
    ["_A", false],
    ["ATEST", false],
    ["A_TEST_B", false],
  ])("%s is test-shaped: %s", (key, shaped) => expect(isTestShaped(key)).toBe(shaped));
});

describe("the body of a write", () => {
  it("may give flags as booleans and JSON columns as JSON", () => {
    const input = parseRowInput(
      { enabled: false, input_schema: { type: "object" }, examples: ["a"], seq: 3 },
      WRITABLE,
    );
    expect(input).toEqual({
      ok: true,
      values: { enabled: 0, input_schema: '{"type":"object"}', examples: '["a"]', seq: 3 },
      ignored: [],
    });
  });

  it("null puts a column back to its default", () => {
    const input = parseRowInput(
      { enabled: null, planner_rank: null, target: null, seq: null },
      WRITABLE,
    );
    expect(input).toMatchObject({
      values: { enabled: 1, planner_rank: 100, target: null, seq: null },
    });
  });

  it.each([
    ["target", 5],
    ["content", { a: 1 }],
    ["seq", "3"],
    ["seq", 1.5],
    ["enabled", 2],
    ["enabled", "1"],
    ["planner_rank", true],
    ["input_schema", 7],
    ["examples", false],
    ["includes", ["A"]],
  ])("names the column %s when its value is %j", (field, value) => {
    expect(parseRowInput({ [field]: value }, WRITABLE)).toMatchObject({
      ok: false,
      refusal: { status: 400, error: "invalid_field", members: { field } },
    });
  });

  it.each(["cron", "FN", "", null, 3, ["fn"]])("refuses the type %j", (type) => {
    expect(parseRowInput({ type }, WRITABLE)).toMatchObject({
      ok: false,
      refusal: { error: "invalid_type" },
    });
  });

  it("lists what it does not take, names of prototypes included", () => {
    const parsed = parseObject(
      '{"target":"now","colour":1,"__proto__":{"type":"fn"},"constructor":1}',
    );
    if (!parsed.ok) throw new Error("not parsed");
    expect(parseRowInput(parsed.body, WRITABLE)).toEqual({
      ok: true,
      values: { target: "now" },
      ignored: ["colour", "__proto__", "constructor"],
    });
  });

  it("replaces a lone surrogate, which UTF-8 cannot hold", () => {
    expect(parseRowInput({ content: "a\ud800b" }, WRITABLE)).toMatchObject({
      values: { content: "a\ufffdb" },
    });
  });

  it.each(["", "[]", "null", "3", "{", '"a"', "[".repeat(100_000)])(
    "%.9s is no JSON object",
    (json) => {
      expect(parseObject(json)).toMatchObject({
        ok: false,
        refusal: { status: 400, error: "invalid_json" },
      });
    },
  );

  it("never throws, whatever JSON stands in it", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...WRITABLE, "__proto__", "x"), fc.jsonValue()),
        (body) => {
          const input = parseRowInput(body as Parameters<typeof parseRowInput>[0], WRITABLE);
          if (input.ok)
            expect(
              Object.keys(input.values).every((name) => WRITABLE.some((column) => column === name)),
            ).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("the decision about a change", () => {
  const facts = { now: "2026-08-01T00:00:00.000Z", violations: () => [] };
  const row = {
    ...completeRow({ type: "fn", target: "now" }),
    key: "NOW",
    updated_at: "u",
    created_at: "c",
  };
  const present: Current = { key: "NOW", row, version: 4 };
  const absent: Current = { key: "NOW", row: null, version: 0 };

  it("sets created_at once and updated_at every time", () => {
    expect(decideChange(present, { action: "put", body: { type: "fn" } }, facts)).toMatchObject({
      row: { target: null, created_at: "c", updated_at: facts.now },
    });
    expect(decideChange(absent, { action: "put", body: { type: "fn" } }, facts)).toMatchObject({
      row: { created_at: facts.now },
    });
  });

  it("keeps a patch to the named columns", () => {
    expect(
      decideChange(
        present,
        { action: "patch", body: { category: "x", sensitive: 1, key: "B" } },
        facts,
      ),
    ).toEqual({
      ok: true,
      row: { ...row, category: "x", updated_at: facts.now },
      ignored: ["sensitive", "key"],
    });
  });

  it("refuses a row larger than an event can hold", () => {
    const body = { type: "fn", content: "x".repeat(MAX_ROW_BYTES) };
    expect(decideChange(absent, { action: "put", body }, facts)).toMatchObject({
      refusal: { status: 413, error: "row_too_large" },
    });
  });

  it("refuses a body that names another key than the address", () => {
    expect(
      decideChange(present, { action: "put", body: { type: "fn", key: "THEN" } }, facts),
    ).toMatchObject({
      refusal: { status: 400, error: "invalid_key" },
    });
    expect(
      decideChange(present, { action: "put", body: { type: "fn", key: "now" } }, facts).ok,
    ).toBe(true);
  });
});

it("every key that the pattern takes survives its look-up", () => {
  fc.assert(
    fc.property(fc.stringMatching(KEY_PATTERN), (key) => {
      expect(refuseKey(key)).toBeNull();
      expect(keySpellings(key)[0]).toBe(key);
    }),
    { numRuns: 200 },
  );
});
