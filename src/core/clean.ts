import type { Issue } from "./failure.ts";
import type { Json } from "./json.ts";
import { isExactNumber, type ExactNumber } from "./json-text.ts";

/** Deeper arguments are refused, so that no walk over a value meets the end of the stack. */
const MAX_DEPTH = 256;

export type Cleaned = { ok: true; values: Map<string, Json> } | { ok: false; issues: Issue[] };

/**
 * Named arguments as the rest of the program may hold them: texts and names well-formed (a lone surrogate
 * is U+FFFD), no whole number that a double does not keep. Members stay own members, `__proto__` too.
 */
export function cleanArguments(given: ReadonlyMap<string, Json>): Cleaned {
  const issues: Issue[] = [];
  const clean = (value: Json, path: string, depth: number): Json => {
    if (typeof value === "string") return value.toWellFormed();
    if (typeof value === "number" || isExactNumber(value)) {
      const number = keptNumber(value);
      if (number === null) issues.push(unkept(path));
      return number;
    }
    if (typeof value !== "object" || value === null) return value;
    if (depth === MAX_DEPTH) {
      issues.push({
        path: "",
        message: `Arguments may nest ${MAX_DEPTH} levels deep.`,
        keyword: "type",
      });
      return null;
    }
    if (Array.isArray(value))
      return value.map((item, index) => clean(item, `${path}/${index}`, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const wellFormed = name.toWellFormed();
        return [wellFormed, clean(member, `${path}/${pointerToken(wellFormed)}`, depth + 1)];
      }),
    );
  };
  const entries = [...given].map(([name, value]) => {
    const wellFormed = name.toWellFormed();
    return [wellFormed, clean(value, `/${pointerToken(wellFormed)}`, 1)] as const;
  });
  return issues.length === 0
    ? { ok: true, values: new Map(entries) }
    : { ok: false, issues: issues.slice(0, 20) };
}

/** The number as a double, or null where whole digits would change. From 1e21 on nobody reads exact digits. */
export function keptNumber(value: number | ExactNumber): number | null {
  const number = typeof value === "number" ? value : Number(value.rawJSON);
  if (!Number.isFinite(number)) return null;
  if (typeof value !== "number") return Number.isInteger(number) ? null : number;
  return Number.isInteger(number) && !Number.isSafeInteger(number) && Math.abs(number) < 1e21
    ? null
    : number;
}

/** For the record of an input that was not cleaned: digits as text, and nothing too deep to walk. */
export function spelledOut(value: Json, depth = 0): Json {
  if (isExactNumber(value)) return value.rawJSON;
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => spelledOut(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, spelledOut(member, depth + 1)]),
  );
}

/** RFC 6901: one name as a step of a pointer. */
export function pointerToken(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unkept(path: string): Issue {
  return {
    path,
    message: "This number is beyond 2^53, where JSON numbers lose digits; send it as a string.",
    keyword: "type",
  };
}
