import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { checkSchema, declaredArguments, validate } from "../../src/core/schema.ts";
import { mendPattern, typeWord } from "../../src/core/schema-words.ts";

const property = (schema: Json): JsonObject => ({ type: "object", properties: { a: schema } });
const keywords = (schema: Json, value: Json) =>
  validate(property(schema), { a: value }).map((issue) => issue.keyword);

describe("a schema of arguments", () => {
  it.each<Json>([
    {},
    { type: "object" },
    { properties: { a: true, b: false } },
    { type: ["object", "null"], required: [] },
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      definitions: { x: {} },
      properties: { a: { $ref: "#/definitions/x" } },
    },
    { $defs: { "a b": {} }, properties: { a: { $ref: "#/$defs/a%20b" } } },
    { properties: { a: { $ref: "#" } } },
    {
      properties: {
        a: { pattern: "^https\\:\\/\\/[\\w\\-]+$" },
        b: { pattern: "(?P<id>\\d+)(?P=id)" },
        c: { pattern: "^[a[\\]b]+$" },
      },
    },
    { properties: { a: { type: "int", nullable: true, "x-any": [1] } } },
    { properties: { items: { items: [{}, {}] }, required: { type: "boolean" } } },
  ])("%j is usable", (schema) => {
    expect(checkSchema(schema)).toBeNull();
  });

  it.each<[Json, string]>([
    [[], "not a JSON object"],
    ["x", "not a JSON object"],
    [null, "not a JSON object"],
    [{ type: "array" }, "root must be of type object"],
    [{ type: "banana" }, "/type must be one or more of"],
    [{ properties: [] }, "/properties must be an object of schemas"],
    [{ properties: { a: 5 } }, "/properties must be"],
    [{ properties: { a: { required: true } } }, "/properties/a/required must be a list of names"],
    [
      { properties: { a: { type: "string", minLength: -1 } } },
      "/properties/a/minLength must be a whole number",
    ],
    [{ properties: { a: { pattern: "(" } } }, "/properties/a/pattern must be a regular expression"],
    [{ properties: { a: { patternProperties: { "[": {} } } } }, "not a regular expression"],
    [
      { properties: { a: { anyOf: [{ enum: "x" }] } } },
      "/properties/a/anyOf/0/enum must be a list",
    ],
    [{ properties: { a: { exclusiveMinimum: true } } }, "must be a number"],
    [{ properties: { a: { multipleOf: 0 } } }, "above 0"],
    [{ properties: { a: { $ref: "#/$defs/none" } } }, "leads nowhere"],
    [{ properties: { a: { $ref: "https://example.com/other.json" } } }, "leads nowhere"],
    [{ $id: "http://[" }, ""],
  ])("%j is not: %s", (schema, why) => {
    expect(checkSchema(schema)).toContain(why);
  });

  it("that nests beyond the stack is refused", () => {
    let deep: Json = {};
    for (let level = 0; level < 50_000; level++) deep = { not: deep };
    expect(checkSchema(deep)).toBe("it nests too deeply");
  });

  it("names its arguments in order, through references and unions", () => {
    const schema: JsonObject = {
      allOf: [{ $ref: "#/$defs/base" }],
      properties: { z: {}, a: {} },
      required: ["z"],
      oneOf: [{ properties: { link: {} }, required: ["link"] }, { $ref: "#" }],
      $defs: { base: { properties: { id: {} }, required: ["id"] } },
    };
    expect(declaredArguments(schema)).toEqual({
      names: ["z", "a", "id", "link"],
      required: new Set(["z", "id"]),
    });
  });
});

describe("validation", () => {
  it("points to the place and says the rule in plain words", () => {
    const schema: JsonObject = {
      type: "object",
      properties: { n: { type: "integer" }, "a/b": { items: { type: ["string", "null"] } } },
      required: ["n"],
      additionalProperties: false,
    };
    expect(validate(schema, { "a/b": ["x", 5], extra: 1 })).toEqual([
      { path: "", keyword: "required", message: 'Missing property "n".' },
      { path: "/a~1b/1", keyword: "type", message: "Must be string or null, not number." },
      { path: "/extra", keyword: "additionalProperties", message: "This is not allowed here." },
    ]);
  });

  it("puts single values before alternatives that failed as a whole", () => {
    expect(keywords({ anyOf: [{ type: "string" }, { type: "null" }] }, 5)).toEqual([
      "type",
      "type",
      "anyOf",
    ]);
    expect(keywords({ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 5)).toEqual(["oneOf"]);
  });

  it("lists at most twenty issues", () => {
    expect(
      keywords(
        { items: { type: "string" } },
        Array.from({ length: 500 }, () => 1),
      ),
    ).toHaveLength(20);
  });

  it("asserts formats", () => {
    expect(keywords({ format: "uuid" }, '<|"|')).toEqual(["format"]);
    expect(keywords({ format: "date" }, "2026-02-30")).toEqual(["format"]);
    expect(keywords({ format: "unknown" }, "x")).toEqual([]);
  });

  it("reads patterns and type words that other systems wrote", () => {
    expect(keywords({ pattern: "^https\\:\\/\\/\\w+\\-\\_x$" }, "https://a-_x")).toEqual([]);
    expect(keywords({ pattern: "^https\\:" }, "http")).toEqual(["pattern"]);
    expect(mendPattern("(?P<q>['\"])x(?P=q)")).toBe("(?<q>['\"])x\\k<q>");
    expect(
      ["int", "Date", "str", "float", "dict", "List", "banana", 5].map((word) => typeWord(word)),
    ).toEqual(["integer", "string", "string", "number", "object", "array", null, null]);
    expect(keywords({ type: "int" }, "x")).toEqual(["type"]);
  });

  it("leaves the given schema alone, frozen or not", () => {
    const schema = Object.freeze(property({ type: "int", pattern: "\\:" }));
    const before = JSON.stringify(schema);
    validate(schema, { a: 5 });
    expect(JSON.stringify(schema)).toBe(before);
    expect(Object.getOwnPropertyNames(schema)).toEqual(["type", "properties"]);
  });

  it("never throws on a schema that cannot be read", () => {
    for (const schema of [
      { required: true },
      { type: "banana" },
      { properties: 5 },
      { pattern: "(" },
      { enum: {} },
      { $ref: "#/none" },
      { $id: "http://[" },
    ] as Json[]) {
      expect(Array.isArray(validate(property(schema), { a: "x" }))).toBe(true);
    }
  });

  it("ends on references that never end, on doubling ones, on deep and on wide values", () => {
    const double = (name: string): Json => ({ anyOf: [{ $ref: name }, { $ref: name }] });
    const ladder: JsonObject = { $defs: {}, ...(double("#/$defs/s0") as JsonObject) };
    for (let step = 0; step < 60; step++)
      (ladder["$defs"] as JsonObject)[`s${step}`] = double(`#/$defs/s${step + 1}`);
    (ladder["$defs"] as JsonObject)["s60"] = { type: "integer" };
    const tree: JsonObject = {
      oneOf: ["a", "b"].map((kind) => ({
        properties: { kind: { const: kind }, next: { $ref: "#" } },
      })),
    };
    let deep: Json = { kind: "c" };
    for (let level = 0; level < 200; level++) deep = { kind: "c", next: deep };
    let deeper: Json = {};
    for (let level = 0; level < 30_000; level++) deeper = { a: deeper };
    const started = performance.now();
    for (const [schema, value] of [
      [{ $ref: "#" }, {}],
      [{ allOf: [{ $ref: "#" }] }, {}],
      [ladder, "x"],
      [tree, deep],
      [property({ $ref: "#" }), deeper],
      [
        property({ uniqueItems: true }),
        { a: Array.from({ length: 200_000 }, (_, index) => index) },
      ],
      [property({ format: "url" }), { a: `http://${"a".repeat(60)}^` }],
    ] as [JsonObject, Json][]) {
      expect(validate(schema, value).length).toBeGreaterThan(0);
    }
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(
      validate(property({ items: { type: "integer" } }), {
        a: Array.from({ length: 200_000 }, () => "x"),
      }),
    ).toHaveLength(1);
  });

  it("never throws, whatever schema meets whatever value", () => {
    const names = fc.constantFrom(
      "type",
      "properties",
      "items",
      "$ref",
      "required",
      "enum",
      "pattern",
      "anyOf",
      "not",
      "format",
      "a",
      "__proto__",
    );
    const schemas = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<Json>("string", "#", "(", "#/a", 1, true, null),
        tie("list"),
        tie("node"),
      ),
      list: fc.array(tie("value"), { maxLength: 3 }),
      node: fc
        .array(fc.tuple(names, tie("value")), { maxLength: 4 })
        .map((entries) => Object.fromEntries(entries) as Json),
    })).node as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(schemas, fc.jsonValue(), (schema, value) => {
        expect(["string", "object"]).toContain(typeof checkSchema(schema));
        expect(Array.isArray(validate(schema, value as Json))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
