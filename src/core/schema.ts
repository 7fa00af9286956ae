import {
  dereference,
  validate as run,
  type OutputUnit,
  type Schema,
  type SchemaDraft,
} from "@cfworker/json-schema";
import type { Issue } from "./failure.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { readPointer } from "./json-text.ts";
import {
  faultOfKeyword,
  isKnownKeyword,
  mapSubschemas,
  mendPattern,
  typeWord,
} from "./schema-words.ts";

/**
 * JSON Schema (draft 2020-12, and draft-07 where `$schema` says so) on a library that interprets: Workers
 * forbid code generation. Schemas come from owners and imported documents, values from anyone, so every
 * walk here is bounded by work, not by trust.
 */
const MAX_ISSUES = 20;

/** Beyond it one issue per place is enough: listing all of them would cost memory per item. */
const THOROUGH_NODES = 5_000;

/** The library compares every pair of a `uniqueItems` list. */
const MAX_UNIQUE_ITEMS = 5_000;

/**
 * Following references is the only way to work that is not bounded by schema times value: `anyOf` of
 * references doubles at each level, `{"$ref":"#"}` never ends.
 */
function referenceBudget(nodes: number): number {
  return Math.min(2_000 + 20 * nodes, 200_000);
}

class OutOfBudget extends Error {}

interface Prepared {
  root: Schema;
  lookup: Record<string, Schema | boolean>;
  draft: SchemaDraft;
  unique: boolean;
}

/** Per schema object; whoever changes a schema makes a new one. */
const prepared = new WeakMap<JsonObject, Prepared>();

/** Why the value is not a usable schema of a row's arguments, or null. */
export function checkSchema(value: unknown): string | null {
  if (!isJsonObject(value)) return "it is not a JSON object";
  try {
    const fault = faultOf(value as Json, "");
    if (fault) return fault;
    const types = [value["type"] ?? "object"].flat().map((word) => typeWord(word as Json));
    if (!types.includes("object")) {
      return "the root must be of type object: a call has named arguments";
    }
    return unresolved(prepare(value as JsonObject));
  } catch (error) {
    if (error instanceof RangeError) return "it nests too deeply";
    return error instanceof Error ? error.message : "it cannot be read";
  }
}

/** Every broken rule: those of single values first, then the alternatives that failed as a whole. */
export function validate(schema: JsonObject, value: Json): Issue[] {
  const size = measure(value);
  try {
    const { root, lookup, draft, unique } = prepare(schema);
    if (unique && size.longestList > MAX_UNIQUE_ITEMS) {
      return [
        {
          path: "",
          message: `A list may hold at most ${MAX_UNIQUE_ITEMS} items here.`,
          keyword: "uniqueItems",
        },
      ];
    }
    const metered = meter(lookup, referenceBudget(size.nodes));
    return toIssues(run(value, root, draft, metered, size.nodes > THOROUGH_NODES).errors);
  } catch (error) {
    return [{ path: "", keyword: "$ref", message: whyStopped(error) }];
  }
}

/** Names of the arguments in the order in which a positional body fills them, and which must be there. */
export function declaredArguments(schema: JsonObject): { names: string[]; required: Set<string> } {
  const names = new Set<string>();
  const required = new Set<string>();
  const seen = new Set<Json>();
  const visit = (node: Json | undefined, always: boolean): void => {
    if (!isJsonObject(node) || seen.has(node)) return;
    seen.add(node);
    const { $ref, properties, required: list, allOf, anyOf, oneOf } = node;
    if (isJsonObject(properties)) for (const name of Object.keys(properties)) names.add(name);
    if (always && Array.isArray(list)) for (const name of list) required.add(String(name));
    if (typeof $ref === "string" && $ref.startsWith("#"))
      visit(readPointer(schema, decodeFragment($ref)), always);
    for (const part of listOf(allOf)) visit(part, always);
    for (const part of [...listOf(anyOf), ...listOf(oneOf)]) visit(part, false);
  };
  visit(schema, true);
  return { names: [...names], required };
}

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function decodeFragment(reference: string): string {
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    return reference.slice(1);
  }
}

function faultOf(schema: Json, pointer: string): string | null {
  if (!isJsonObject(schema)) return null;
  for (const [keyword, value] of Object.entries(schema)) {
    const fault = faultOfKeyword(keyword, value);
    if (fault) return `${pointer}/${keyword} ${fault}`;
    let inner: string | null = null;
    mapSubschemas(keyword, value, (child, tail) => {
      inner ??= faultOf(child, [pointer, keyword, ...tail].join("/"));
      return child;
    });
    if (inner) return inner;
  }
  return null;
}

function prepare(schema: JsonObject): Prepared {
  const known = prepared.get(schema);
  if (known) return known;
  const root = mend(schema) as Schema;
  const old = typeof schema["$schema"] === "string" && /draft-0[467]/.test(schema["$schema"]);
  const made: Prepared = {
    root,
    lookup: dereference(root),
    draft: old ? "7" : "2020-12",
    unique: JSON.stringify(root).includes('"uniqueItems":true'),
  };
  prepared.set(schema, made);
  return made;
}

/**
 * A copy that the library reads without throwing (it writes into what it is given, too). A row that came
 * by SQL may hold keywords that cannot be read; they constrain nothing. `$dynamicRef` is read as `$ref`.
 */
function mend(schema: Json): Json {
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]) => mendKeyword(keyword, value)),
  );
}

function mendKeyword(keyword: string, value: Json): [string, Json][] {
  if (keyword === "type") {
    const words = [value]
      .flat()
      .map((word) => typeWord(word))
      .filter((word) => word !== null);
    return words.length === 0 ? [] : [[keyword, Array.isArray(value) ? words : words[0]!]];
  }
  if (keyword === "id" || keyword === "$recursiveRef" || faultOfKeyword(keyword, value) !== null)
    return [];
  if (keyword === "pattern") return [[keyword, mendPattern(value as string)!]];
  // The library's expression for `url` backtracks without end; `uri` is the standard's own word.
  if (keyword === "format") return [[keyword, value === "url" ? "uri" : value]];
  if (keyword === "$dynamicRef") return [["$ref", value]];
  if (keyword === "$dynamicAnchor") return [["$anchor", value]];
  const inner = mapSubschemas(keyword, value, mend);
  if (keyword === "patternProperties") {
    return [
      [
        keyword,
        Object.fromEntries(
          Object.entries(inner!).map(([name, part]) => [mendPattern(name)!, part]),
        ),
      ],
    ];
  }
  return [[keyword, isKnownKeyword(keyword) ? inner : mend(value)]];
}

function unresolved({ lookup }: Prepared): string | null {
  for (const schema of Object.values(lookup)) {
    if (typeof schema === "boolean" || schema.$ref === undefined) continue;
    const uri = schema.__absolute_ref__ ?? schema.$ref;
    if (lookup[uri] === undefined)
      return `$ref ${JSON.stringify(schema.$ref)} leads nowhere in this schema`;
  }
  return null;
}

function meter(lookup: Prepared["lookup"], budget: number): Prepared["lookup"] {
  let left = budget;
  return new Proxy(lookup, {
    get(target, uri: string) {
      if (left-- === 0) throw new OutOfBudget();
      return target[uri];
    },
  });
}

function whyStopped(error: unknown): string {
  if (error instanceof OutOfBudget || error instanceof RangeError) {
    return "Checking this value against the row's schema takes too much work; send a smaller or flatter value.";
  }
  return "The row's schema cannot be used; its owner must mend it.";
}

/** Without recursion: a value may be deeper than the stack. */
function measure(value: Json): { nodes: number; longestList: number } {
  const open: Json[] = [value];
  let nodes = 0;
  let longestList = 0;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    nodes++;
    if (Array.isArray(node)) longestList = Math.max(longestList, node.length);
    if (typeof node === "object" && node !== null)
      for (const child of Object.values(node)) open.push(child);
  }
  return { nodes, longestList };
}

/** They say only that something below them failed, and that stands in the list itself. */
const WRAPPERS: ReadonlySet<string> = new Set([
  "$ref",
  "allOf",
  "if",
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "dependentSchemas",
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
]);
const SUMMARIES: ReadonlySet<string> = new Set(["anyOf", "oneOf", "contains"]);

function toIssues(errors: OutputUnit[]): Issue[] {
  const issues = new Map<string, Issue>();
  const add = (error: OutputUnit, index: number): void => {
    // A `false` schema reports itself; the keyword that holds it is the one before.
    const keyword =
      error.keyword === "false" ? (errors[index - 1]?.keyword ?? "false") : error.keyword;
    const issue = { path: pointerOf(error.instanceLocation), message: plain(error), keyword };
    if (issues.size < MAX_ISSUES) issues.set(JSON.stringify(issue), issue);
  };
  errors.forEach((error, index) => {
    if (!WRAPPERS.has(error.keyword) && !SUMMARIES.has(error.keyword)) add(error, index);
  });
  errors.forEach((error, index) => {
    if (SUMMARIES.has(error.keyword)) add(error, index);
  });
  if (issues.size === 0) errors.slice(0, 1).forEach(add);
  return [...issues.values()];
}

function pointerOf(location: string): string {
  return decodeURIComponent(location.slice(1));
}

function plain({ keyword, error }: OutputUnit): string {
  if (keyword === "false") return "This is not allowed here.";
  const type = /^Instance type "(\w+)" is invalid\. Expected (.+)\.$/.exec(error);
  if (type)
    return `Must be ${type[2]!.replaceAll('"', "").replaceAll(", ", " or ")}, not ${type[1]}.`;
  return error
    .replace(/^Instance does not have required property/, "Missing property")
    .replace(/^Instance /, "The value ");
}
