import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  joinPieces,
  readArguments,
  recordInput,
  splitBody,
  withBindings,
} from "../../src/core/arguments.ts";
import type { CallInput } from "../../src/core/call.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { parseExact } from "../../src/core/json-text.ts";
import { nasty, objectSchema, ofArgs, ofBody, ofPieces } from "../support/arguments.ts";

const place = objectSchema(
  { city: { type: "string" }, days: { type: "integer" }, metric: { type: "boolean" } },
  ["city"],
);

function issuesOf(schema: JsonObject | undefined, input: CallInput) {
  const read = readArguments(schema, input);
  return read.ok ? [] : read.issues;
}

describe("the pipe grammar", () => {
  it.each<[string, string[]]>([
    ["", [""]],
    ["a|b", ["a", "b"]],
    ["a||b|", ["a", "", "b", ""]],
    ["a\\|b|c", ["a|b", "c"]],
    ["a\\\\|b", ["a\\", "b"]],
    ["a\\\\\\|b", ["a\\|b"]],
    ["C:\\dir\\\\x|\\n", ["C:\\dir\\\\x", "\\n"]],
    ["end\\", ["end\\"]],
  ])("splits %j", (body, pieces) => {
    expect(splitBody(body)).toEqual(pieces);
  });

  it("takes apart whatever it joined", () => {
    const piece = fc.oneof(nasty, fc.string({ unit: fc.constantFrom("\\", "|", "a") }));
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 5 }), (pieces) => {
        expect(splitBody(joinPieces(pieces))).toEqual(pieces);
      }),
      { numRuns: 500 },
    );
  });
});

describe("arguments without a schema", () => {
  it("are the pieces of the body", () => {
    expect(ofBody('{"a":1}|x')).toMatchObject({
      pieces: ['{"a":1}', "x"],
      named: null,
      declared: [],
    });
  });

  it("are taken as they are when named, and their values are the pieces in order", () => {
    const args = ofArgs({ b: "x", a: [1], n: null });
    expect(args.pieces).toEqual(["x", "[1]", ""]);
    expect(args.named).toEqual(
      new Map<string, unknown>([
        ["b", "x"],
        ["a", [1]],
        ["n", null],
      ]),
    );
  });
});

describe("arguments with a schema", () => {
  it("fill the declared names in order, coerced by their types; extra pieces are discarded", () => {
    expect(ofBody("Rome|3|true|more", place)).toMatchObject({
      pieces: ["Rome", "3", "true"],
      named: new Map<string, unknown>([
        ["city", "Rome"],
        ["days", 3],
        ["metric", true],
      ]),
      declared: ["city", "days", "metric"],
      required: new Set(["city"]),
    });
  });

  it("are named when the body, or the only piece, is one JSON object", () => {
    const named = new Map<string, unknown>([
      ["city", "Rome"],
      ["metric", false],
    ]);
    const text = ' {"city":"Rome","metric":false}';
    expect(ofBody(text, place)).toMatchObject({ named, pieces: ["Rome", "", "false"] });
    expect(readArguments(place, { kind: "pieces", pieces: [text] })).toMatchObject({
      ok: true,
      args: { named },
    });
    expect(ofBody("{not json", place).named?.get("city")).toBe("{not json");
  });

  it("leave an empty piece absent", () => {
    expect([...ofBody("Rome||true", place).named!.keys()]).toEqual(["city", "metric"]);
    expect(issuesOf(place, { kind: "body", text: "|3" })).toMatchObject([
      { keyword: "required", path: "" },
    ]);
  });

  it("are read as the schema wants them, text first", () => {
    const schema = objectSchema({
      text: { type: ["string", "integer"] },
      pick: { enum: [1, 2, 4] },
      list: { $ref: "#/$defs/list" },
      free: {},
    });
    const read = ofBody("5|2|[1,2]|7", {
      ...schema,
      $defs: { list: { type: "array", items: { type: "integer" } } },
    });
    expect(Object.fromEntries(read.named!)).toEqual({
      text: "5",
      pick: 2,
      list: [1, 2],
      free: "7",
    });
  });

  it("are refused by rule, with a pointer to the place", () => {
    expect(issuesOf(place, { kind: "body", text: "Rome|soon" })).toMatchObject([
      { path: "/days", keyword: "type" },
    ]);
    const bounded = objectSchema({ n: { type: "integer", minimum: 5 } });
    expect(issuesOf(bounded, { kind: "body", text: "3" })).toMatchObject([
      { path: "/n", keyword: "minimum" },
    ]);
  });

  it("may be declared behind references and unions", () => {
    const schema: JsonObject = {
      $ref: "#/definitions/Root",
      definitions: {
        Root: {
          type: "object",
          properties: { a: { type: "string" } },
          oneOf: [{ properties: { b: {} } }],
        },
      },
    };
    expect(ofBody("x|y", schema)).toMatchObject({ declared: ["a", "b"], pieces: ["x", "y"] });
  });
});

describe("whole numbers beyond 2^53", () => {
  const schema = objectSchema({ id: { type: "integer" }, deep: { type: "object" } });

  it("are refused when named, and the caller is told to send text", () => {
    const args = parseExact(
      '{"id":9007199254740993,"deep":{"a":[2574604874062343519]}}',
    ) as JsonObject;
    const issues = issuesOf(schema, { kind: "args", args });
    expect(issues.map((issue) => issue.path)).toEqual(["/id", "/deep/a/0"]);
    expect(issues[0]!.message).toContain("send it as a string");
    expect(issuesOf(undefined, { kind: "args", args })).toHaveLength(2);
    expect(issuesOf(schema, { kind: "args", args: { id: 2 ** 53 } })).toHaveLength(1);
  });

  it("are refused when coerced, and pass as text on a row without a schema", () => {
    expect(issuesOf(schema, { kind: "body", text: "2574604874062343519" })).toMatchObject([
      { path: "/id" },
    ]);
    expect(ofBody("2574604874062343519").pieces).toEqual(["2574604874062343519"]);
    expect(ofBody("2574604874062343519", objectSchema({ id: { type: "string" } })).pieces).toEqual([
      "2574604874062343519",
    ]);
  });

  it("are not confused with fractions that a double shortens", () => {
    const args = parseExact('{"x":3.14159265358979323846,"y":6.02214076e23}') as JsonObject;
    expect(Object.fromEntries(ofArgs(args).named!)).toEqual({ x: Math.PI, y: 6.02214076e23 });
  });
});

describe("null and empty values", () => {
  const schema = objectSchema({
    due: { type: "string", format: "date" },
    tags: { type: "array" },
    note: { type: ["string", "null"] },
  });

  it("of optional arguments mean absent, unless the schema accepts them", () => {
    const args = ofArgs({ due: "", tags: [], note: null }, schema);
    expect(Object.fromEntries(args.named!)).toEqual({ tags: [], note: null });
    expect(Object.fromEntries(ofArgs({ due: null, tags: null }, schema).named!)).toEqual({});
  });

  it("differ from the word null and from a list of null", () => {
    const text = objectSchema({ a: { type: "string" } });
    expect(ofArgs({ a: "null" }, text).named?.get("a")).toBe("null");
    expect(issuesOf(text, { kind: "args", args: { a: ["null"] } })).toMatchObject([
      { path: "/a", keyword: "type" },
    ]);
  });

  it("of required arguments are judged by the schema", () => {
    expect(
      issuesOf(objectSchema({ v: { type: "string" } }, ["v"]), { kind: "args", args: { v: null } }),
    ).toHaveLength(1);
    const nullable: JsonObject = { anyOf: [{ type: "string", maxLength: 9 }, { type: "null" }] };
    expect(ofArgs({ v: null }, objectSchema({ v: nullable }, ["v"])).named?.get("v")).toBeNull();
  });
});

describe("hostile arguments", () => {
  it("named like parts of an object reach no prototype", () => {
    const args = parseExact(
      '{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}},"q":"x"}',
    ) as JsonObject;
    for (const schema of [undefined, objectSchema({ q: { type: "string" } })]) {
      const read = ofArgs(args, schema);
      expect(read.named?.get("q")).toBe("x");
      expect("admin" in {} || "x" in {}).toBe(false);
    }
    const closed = { ...objectSchema({ q: {} }), additionalProperties: false };
    expect(issuesOf(closed, { kind: "args", args }).map((issue) => issue.keyword)).toContain(
      "additionalProperties",
    );
  });

  it("become well-formed text", () => {
    expect(ofPieces("ok\ud83d").pieces).toEqual(["ok\ufffd"]);
    expect(ofArgs({ "k\udc00": ["\ud83d"] }).named).toEqual(new Map([["k\ufffd", ["\ufffd"]]]));
    expect(withBindings(ofPieces("x"), new Map([["PREV", "\ud83d"]])).bindings.get("PREV")).toBe(
      "\ufffd",
    );
  });

  it("nested without end are an issue and no overflow", () => {
    let deep: JsonObject = {};
    for (let level = 0; level < 50_000; level++) deep = { a: deep };
    expect(issuesOf(undefined, { kind: "args", args: deep })).toMatchObject([{ path: "" }]);
    expect(issuesOf(objectSchema({ a: {} }), { kind: "args", args: deep })).toHaveLength(1);
    expect(recordInput(undefined, { kind: "args", args: deep }).kind).toBe("args");
  });

  it("never throw", () => {
    const schema = objectSchema(
      { a: { type: "integer" }, b: { type: "array", items: { type: "string" } }, c: {} },
      ["a"],
    );
    fc.assert(
      fc.property(fc.array(nasty, { minLength: 1, maxLength: 4 }), (pieces) => {
        for (const input of [
          { kind: "pieces" as const, pieces },
          { kind: "body" as const, text: pieces[0]! },
        ]) {
          expect(readArguments(undefined, input).ok).toBe(true);
          expect(typeof readArguments(schema, input).ok).toBe("boolean");
        }
      }),
      { numRuns: 300 },
    );
  });
});
