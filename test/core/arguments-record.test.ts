import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readArguments, recordInput, replayInput } from "../../src/core/arguments.ts";
import type { CallInput } from "../../src/core/call.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { parseExact } from "../../src/core/json-text.ts";
import { nasty, objectSchema } from "../support/arguments.ts";

const place = objectSchema({ city: { type: "string" }, days: { type: "integer" } }, ["city"]);

describe("the record of an input", () => {
  it("is the body, or the RFC 8785 form of named arguments", () => {
    expect(recordInput(place, { kind: "body", text: "a\\|b|c" })).toEqual({
      kind: "body",
      text: "a\\|b|c",
    });
    expect(recordInput(place, { kind: "args", args: { b: 1, a: "é" } })).toEqual({
      kind: "args",
      text: '{"a":"é","b":1}',
    });
    expect(recordInput(place, { kind: "pieces", pieces: ['{"city":"a|b"}'] }).text).toBe(
      '{"city":"a|b"}',
    );
    expect(recordInput(undefined, { kind: "pieces", pieces: ["a|b", "c"] }).text).toBe("a\\|b|c");
  });

  it("spells out numbers that were refused, so that a refusal can be recorded", () => {
    const args = parseExact('{"id":9007199254740993}') as JsonObject;
    expect(recordInput(place, { kind: "args", args }).text).toBe('{"id":"9007199254740993"}');
  });

  it("replays to the same arguments", () => {
    const schema = objectSchema({ a: {}, b: {}, c: {} });
    const input: fc.Arbitrary<CallInput> = fc.oneof(
      fc.record({ kind: fc.constant("body" as const), text: nasty }),
      fc.record({
        kind: fc.constant("pieces" as const),
        pieces: fc.array(nasty, { minLength: 1, maxLength: 4 }),
      }),
      fc.constant<CallInput>({ kind: "pieces", pieces: ['{"a":"x', 'y"}'] }),
      fc.record({
        kind: fc.constant("args" as const),
        args: fc.dictionary(fc.constantFrom("a", "b", "z"), nasty),
      }),
    );
    fc.assert(
      fc.property(input, fc.constantFrom(undefined, schema), (given, row) => {
        const { kind, text } = recordInput(row, given);
        const first = readArguments(row, given);
        const again = readArguments(row, replayInput(kind, text));
        const byName = (read: typeof first) =>
          read.ok && read.args.named && Object.fromEntries(read.args.named);
        expect(byName(again)).toEqual(byName(first));
        if (row || given.kind !== "args") expect(again).toEqual(first);
      }),
      { numRuns: 500 },
    );
  });
});
