import type { CallInput } from "./call.ts";
import { interoperable, rfc8785 } from "./canonical.ts";
import { cleanArguments, spelledOut } from "./clean.ts";
import { accepts, coerce } from "./coerce.ts";
import type { Issue } from "./failure.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { readJson } from "./json-text.ts";
import { declaredArguments, validate } from "./schema.ts";
import { isEmpty, textOf } from "./slot-value.ts";

/** What a call puts into its row's templates, read and validated (SPEC §4). Texts are well-formed. */
export interface Arguments {
  /** `$1` is the first. With a schema: the text of each declared argument, up to the last one given. */
  pieces: readonly string[];
  /** Null for a positional body on a row without a schema. Absent arguments have no entry. */
  named: ReadonlyMap<string, Json> | null;
  /** Argument names of the schema in order; empty without one. */
  declared: readonly string[];
  required: ReadonlySet<string>;
  /** What the steps of a flow bound, and PREV. */
  bindings: ReadonlyMap<string, string>;
}

export type ReadArguments = { ok: true; args: Arguments } | { ok: false; issues: Issue[] };

/**
 * Splits on `|`. In a run of k backslashes directly before a pipe, floor(k/2) remain and an odd k makes
 * the pipe literal; any other backslash is itself.
 */
export function splitBody(text: string): string[] {
  const pieces: string[] = [];
  let piece = "";
  let from = 0;
  for (let pipe = text.indexOf("|"); pipe !== -1; pipe = text.indexOf("|", from)) {
    let run = pipe;
    while (run > from && text[run - 1] === "\\") run--;
    const backslashes = pipe - run;
    piece += text.slice(from, run) + "\\".repeat(backslashes >> 1);
    from = pipe + 1;
    if (backslashes % 2 === 1) {
      piece += "|";
    } else {
      pieces.push(piece);
      piece = "";
    }
  }
  return [...pieces, piece + text.slice(from)];
}

/** The body that `splitBody` takes apart into exactly these pieces. */
export function joinPieces(pieces: readonly string[]): string {
  return pieces.map((piece, index) => escapePipes(piece, index === pieces.length - 1)).join("|");
}

/**
 * Backslashes double where a pipe comes to stand behind them: one of the piece's own, or the one that ends
 * the piece. Those at the end of the body stay.
 */
function escapePipes(piece: string, last: boolean): string {
  const parts = piece.split("|");
  return parts
    .map((part, index) => {
      if (last && index === parts.length - 1) return part;
      let run = part.length;
      while (run > 0 && part[run - 1] === "\\") run--;
      return part + part.slice(run);
    })
    .join("\\|");
}

/**
 * Reads what a caller sent against the row's schema. A body that is one JSON object is named arguments
 * wherever there is a schema; other pieces fill the declared arguments in order.
 */
export function readArguments(schema: JsonObject | undefined, input: CallInput): ReadArguments {
  if (!schema) return readUntyped(input);
  const { names, required } = declaredArguments(schema);
  const given = namedInput(input) ?? positional(schema, names, piecesOf(input));
  const cleaned = cleanArguments(given);
  if (!cleaned.ok) return cleaned;
  const { values } = cleaned;
  for (const [name, value] of values) {
    // An empty value of an optional argument means absent, unless it is one of the argument's values.
    if (!required.has(name) && isEmpty(value) && !accepts(schema, name, value)) values.delete(name);
  }
  const issues = validate(schema, Object.fromEntries(values));
  if (issues.length > 0) return { ok: false, issues };
  const last = names.findLastIndex((name) => values.has(name));
  const pieces = names.slice(0, last + 1).map((name) => textOf(values.get(name) ?? null));
  return {
    ok: true,
    args: { pieces, named: values, declared: names, required, bindings: new Map() },
  };
}

export function withBindings(args: Arguments, bindings: ReadonlyMap<string, string>): Arguments {
  const texts = [...bindings].map(([name, text]) => [name, text.toWellFormed()] as const);
  return { ...args, bindings: new Map([...args.bindings, ...texts]) };
}

/** What the ledger keeps of an input: a text that `replayInput` reads back as the same arguments. */
export function recordInput(
  schema: JsonObject | undefined,
  input: CallInput,
): { kind: "body" | "args"; text: string } {
  if (input.kind === "args")
    return { kind: "args", text: rfc8785(interoperable(spelledOut(input.args))) };
  if (input.kind === "body") return { kind: "body", text: input.text.toWellFormed() };
  if (schema && namedInput(input)) return { kind: "body", text: input.pieces[0]!.toWellFormed() };
  const text = joinPieces(input.pieces).toWellFormed();
  // Pieces that were not named must not read as one JSON object; an empty piece more means nothing.
  return { kind: "body", text: schema && isJsonObject(readJson(text)) ? `${text}|` : text };
}

export function replayInput(kind: "body" | "args", text: string): CallInput {
  if (kind === "body") return { kind, text };
  const args = readJson(text);
  return { kind, args: isJsonObject(args) ? args : {} };
}

function readUntyped(input: CallInput): ReadArguments {
  const plain = { declared: [], required: new Set<string>(), bindings: new Map<string, string>() };
  if (input.kind !== "args") {
    return { ok: true, args: { ...plain, pieces: piecesOf(input), named: null } };
  }
  const cleaned = cleanArguments(new Map(Object.entries(input.args)));
  if (!cleaned.ok) return cleaned;
  return {
    ok: true,
    args: { ...plain, pieces: [...cleaned.values.values()].map(textOf), named: cleaned.values },
  };
}

function piecesOf(input: CallInput): string[] {
  if (input.kind === "args") return [];
  const pieces = input.kind === "body" ? splitBody(input.text) : input.pieces;
  return pieces.map((piece) => piece.toWellFormed());
}

function namedInput(input: CallInput): Map<string, Json> | null {
  if (input.kind === "args") return new Map(Object.entries(input.args));
  const text =
    input.kind === "body" ? input.text : input.pieces.length === 1 ? input.pieces[0]! : "";
  if (!/^\s*\{/.test(text)) return null;
  const value = readJson(text);
  return isJsonObject(value) ? new Map(Object.entries(value)) : null;
}

/** An empty piece means absent; pieces beyond the declared arguments are discarded. */
function positional(schema: JsonObject, names: string[], pieces: string[]): Map<string, Json> {
  const filled = names
    .map((name, index) => [name, pieces[index] ?? ""] as const)
    .filter(([, piece]) => piece !== "");
  return new Map(filled.map(([name, piece]) => [name, coerce(schema, name, piece)]));
}
