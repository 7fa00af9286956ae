import type { Operation } from "../core/call.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { parseExact } from "../core/json-text.ts";
import { renderJson } from "../core/substitute.ts";
import { failed, succeeded, type RunContext, type Runner } from "../dispatch/runner.ts";
import { d1Functions } from "./fn/d1-query.ts";
import { directoryFunctions } from "./fn/directory.ts";
import { messageOf, type FnEntry } from "./fn/entry.ts";
import { kvFunctions } from "./fn/kv.ts";
import { notConfiguredFunctions } from "./fn/not-configured.ts";
import { r2Functions } from "./fn/r2.ts";
import { textFunctions } from "./fn/text.ts";

/** The built-in map (SPEC §5). A Map, so that a target such as `constructor` finds nothing. */
export const functions: ReadonlyMap<string, FnEntry> = new Map(
  [
    ...textFunctions,
    ...d1Functions,
    ...kvFunctions,
    ...r2Functions,
    ...directoryFunctions,
    ...notConfiguredFunctions,
  ].map((entry) => [entry.name, entry]),
);

/** What a fn row does to the world; a target that names no function does nothing. */
export function fnOperation(target: string | null): Operation {
  return functions.get(nameOf(target))?.operation ?? "read";
}

export function fnOwnerOnly(target: string | null): boolean {
  return functions.get(nameOf(target))?.ownerOnly ?? false;
}

export const fn: Runner = {
  async run(context) {
    const name = nameOf(context.capability.row.target);
    const entry = functions.get(name);
    if (!entry) return failed(`ERR:fn:unknown_target:${name}`);
    const given = readContent(context);
    if (!given.ok) return failed(given.error);
    const result = await callEntry(entry, context, given.values);
    return typeof result === "string" && result.startsWith("ERR:")
      ? failed(result)
      : succeeded(result);
  },

  async shape(context) {
    const given = readContent(context);
    const name = nameOf(context.capability.row.target);
    const shown: JsonObject = given.ok ? { arguments: given.values } : { error: given.error };
    return { function: name, ...shown };
  },
};

function nameOf(target: string | null): string {
  return (target ?? "").trim();
}

/** The payload with its slots filled is a JSON array: the function's positional arguments. */
function readContent(
  context: RunContext,
): { ok: true; values: Json[] } | { ok: false; error: string } {
  const template = context.capability.doc.payload || '["$1"]';
  let values: Json;
  try {
    values = parseExact(renderJson(template, context.args));
  } catch (error) {
    return { ok: false, error: `ERR:fn:bad_content_json:${messageOf(error)}` };
  }
  return Array.isArray(values)
    ? { ok: true, values }
    : { ok: false, error: "ERR:fn:content_not_array" };
}

/** A handler's throw is its own failure, told without a stack: the row ran and did not succeed. */
async function callEntry(entry: FnEntry, context: RunContext, values: Json[]): Promise<Json> {
  try {
    return await entry.call(context, values);
  } catch (error) {
    return `ERR:fn:${entry.name}:${messageOf(error)}`;
  }
}
