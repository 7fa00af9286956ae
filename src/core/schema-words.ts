import { isJsonObject, type Json } from "./json.ts";

/** What a keyword's value must look like, and where schemas stand inside it. */
type Shape =
  | "schema"
  | "schemas"
  | "schema map"
  | "number"
  | "count"
  | "text"
  | "flag"
  | "names"
  | "list"
  | "names map"
  | "dependencies";

const SHAPES: ReadonlyMap<string, readonly Shape[]> = new Map<string, readonly Shape[]>([
  ["$ref", ["text"]],
  ["$id", ["text"]],
  ["$schema", ["text"]],
  ["$anchor", ["text"]],
  ["$defs", ["schema map"]],
  ["definitions", ["schema map"]],
  ["properties", ["schema map"]],
  ["patternProperties", ["schema map"]],
  ["dependentSchemas", ["schema map"]],
  ["dependencies", ["dependencies"]],
  ["dependentRequired", ["names map"]],
  ["allOf", ["schemas"]],
  ["anyOf", ["schemas"]],
  ["oneOf", ["schemas"]],
  ["prefixItems", ["schemas"]],
  ["items", ["schema", "schemas"]],
  ["additionalItems", ["schema"]],
  ["unevaluatedItems", ["schema"]],
  ["contains", ["schema"]],
  ["additionalProperties", ["schema"]],
  ["unevaluatedProperties", ["schema"]],
  ["propertyNames", ["schema"]],
  ["not", ["schema"]],
  ["if", ["schema"]],
  ["then", ["schema"]],
  ["else", ["schema"]],
  ["enum", ["list"]],
  ["required", ["names"]],
  ["minimum", ["number"]],
  ["maximum", ["number"]],
  ["exclusiveMinimum", ["number"]],
  ["exclusiveMaximum", ["number"]],
  ["multipleOf", ["number"]],
  ["minLength", ["count"]],
  ["maxLength", ["count"]],
  ["minItems", ["count"]],
  ["maxItems", ["count"]],
  ["minContains", ["count"]],
  ["maxContains", ["count"]],
  ["minProperties", ["count"]],
  ["maxProperties", ["count"]],
  ["uniqueItems", ["flag"]],
  ["pattern", ["text"]],
  ["format", ["text"]],
  ["title", ["text"]],
  ["description", ["text"]],
]);

const TYPES = ["null", "boolean", "object", "array", "number", "string", "integer"] as const;
export type TypeWord = (typeof TYPES)[number];

/** Spellings of other type systems that the field writes into schemas; lower case. */
const TYPE_ALIASES: ReadonlyMap<string, TypeWord> = new Map<string, TypeWord>([
  ["int", "integer"],
  ["long", "integer"],
  ["float", "number"],
  ["double", "number"],
  ["str", "string"],
  ["text", "string"],
  ["date", "string"],
  ["bool", "boolean"],
  ["dict", "object"],
  ["map", "object"],
  ["list", "array"],
]);

/** The JSON Schema type that a word means, or null. */
export function typeWord(word: Json): TypeWord | null {
  if (typeof word !== "string") return null;
  return TYPES.find((type) => type === word) ?? TYPE_ALIASES.get(word.toLowerCase()) ?? null;
}

/** Why a keyword's value is not usable, or null. Unknown keywords are annotations. */
export function faultOfKeyword(keyword: string, value: Json): string | null {
  if (keyword === "type") return faultOfType(value);
  const shapes = SHAPES.get(keyword);
  if (shapes && !shapes.some((shape) => hasShape(value, shape)))
    return `must be ${shapes.map(inWords).join(" or ")}`;
  if (keyword === "multipleOf" && (value as number) <= 0) return "must be above 0";
  if (keyword === "pattern" && mendPattern(value as string) === null)
    return "must be a regular expression that compiles";
  if (keyword !== "patternProperties") return null;
  const bad = Object.keys(value as object).find((pattern) => mendPattern(pattern) === null);
  return bad === undefined
    ? null
    : `holds ${JSON.stringify(bad)}, which is not a regular expression that compiles`;
}

/** The keyword's value with each schema that stands directly in it replaced; the rest stays. */
export function mapSubschemas(
  keyword: string,
  value: Json,
  replace: (schema: Json, tail: string[]) => Json,
): Json {
  const shapes = SHAPES.get(keyword) ?? [];
  if (shapes.includes("schemas") && Array.isArray(value)) {
    return value.map((schema, index) => replace(schema, [String(index)]));
  }
  if ((shapes.includes("schema map") || shapes.includes("dependencies")) && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, schema]) => [
        name,
        isSchema(schema) ? replace(schema, [name]) : schema,
      ]),
    );
  }
  return shapes.includes("schema") ? replace(value, []) : value;
}

export function isKnownKeyword(keyword: string): boolean {
  return SHAPES.has(keyword) || VALUE_KEYWORDS.has(keyword);
}

/** Their values are data, which may look like schemas and is not. */
const VALUE_KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "const",
  "enum",
  "default",
  "examples",
  "example",
]);

/**
 * The pattern as the validator's engine (the `u` flag) compiles it, or null. Python's named groups and
 * needless escapes such as `\:` or `\-` mean the same there and are only written otherwise.
 */
export function mendPattern(pattern: string): string | null {
  const mended = pattern.replace(/\\([\s\S])|\(\?P<|\(\?P=(\w+)\)/g, (all, escaped, name) => {
    if (escaped !== undefined) return NEEDLESS_ESCAPE.test(escaped) ? hexEscape(escaped) : all;
    return name === undefined ? "(?<" : `\\k<${name}>`;
  });
  return [pattern, mended].find(compiles) ?? null;
}

const NEEDLESS_ESCAPE = /[^A-Za-z0-9^$\\.*+?()[\]{}|/]/;

function hexEscape(char: string): string {
  const code = char.charCodeAt(0);
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : char;
}

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u").source !== "";
  } catch {
    return false;
  }
}

function faultOfType(value: Json): string | null {
  const words = Array.isArray(value) ? value : [value];
  if (words.length > 0 && words.every((word) => typeWord(word) !== null)) return null;
  return `must be one or more of ${TYPES.join(", ")}`;
}

function hasShape(value: Json, shape: Shape): boolean {
  switch (shape) {
    case "schema":
      return isSchema(value);
    case "schemas":
      return Array.isArray(value) && value.every(isSchema);
    case "schema map":
      return isJsonObject(value) && Object.values(value).every(isSchema);
    case "names map":
      return isJsonObject(value) && Object.values(value).every((item) => hasShape(item, "names"));
    case "dependencies":
      return (
        isJsonObject(value) &&
        Object.values(value).every((item) => hasShape(item, "names") || isSchema(item))
      );
    case "names":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    case "list":
      return Array.isArray(value);
    case "number":
      return typeof value === "number";
    case "count":
      return typeof value === "number" && Number.isInteger(value) && value >= 0;
    case "flag":
      return typeof value === "boolean";
    case "text":
      return typeof value === "string";
  }
}

function inWords(shape: Shape): string {
  const words: Record<Shape, string> = {
    schema: "a schema",
    schemas: "a list of schemas",
    "schema map": "an object of schemas",
    number: "a number",
    count: "a whole number from 0",
    text: "text",
    flag: "true or false",
    names: "a list of names",
    list: "a list",
    "names map": "an object of lists of names",
    dependencies: "an object of schemas or lists of names",
  };
  return words[shape];
}

function isSchema(value: Json): boolean {
  return typeof value === "boolean" || isJsonObject(value);
}
