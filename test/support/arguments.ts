import fc from "fast-check";
import { readArguments, type Arguments } from "../../src/core/arguments.ts";
import type { CallInput } from "../../src/core/call.ts";
import type { JsonObject } from "../../src/core/json.ts";

/** The arguments of an input that must be readable. */
export function argumentsOf(input: CallInput, schema?: JsonObject): Arguments {
  const read = readArguments(schema, input);
  if (!read.ok) throw new Error(JSON.stringify(read.issues));
  return read.args;
}

export function ofPieces(...pieces: string[]): Arguments {
  return argumentsOf({ kind: "pieces", pieces });
}

export function ofBody(text: string, schema?: JsonObject): Arguments {
  return argumentsOf({ kind: "body", text }, schema);
}

export function ofArgs(args: JsonObject, schema?: JsonObject): Arguments {
  return argumentsOf({ kind: "args", args }, schema);
}

export function objectSchema(properties: JsonObject, required: string[] = []): JsonObject {
  return { type: "object", properties, required };
}

/** Texts that break naive substitution, and any other text, lone surrogates included. */
export const nasty: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "$&",
    "$'",
    "$`",
    "$1",
    "$2",
    "$$",
    "$$1",
    "$NAME",
    "$PREV",
    "{name}",
    "{?a}",
    "\ud83d",
    "\udc00x",
    '"',
    '\\"',
    '","x":1,"',
    "\u2028\u2029",
    "😀",
    "a|b",
    "\\|",
    "\\\\",
    "\\",
    "null",
    "true",
    "{}",
    "[1]",
    '{"a":1}',
    "1e3",
    "..",
    ".",
    "%2e%2e",
    "../x",
    "?a=b",
    "#f",
    "&x=1",
    "=",
    "a/b",
    "\\evil",
    "@evil.example.net",
    ":80",
    "//x",
    "\r\nX: y",
    "\n",
    "\0",
    "\t",
    " ",
    "",
    "é",
    "日本",
  ),
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.json(),
);
