import type { Json } from "../../core/json.ts";
import { stringifyExact } from "../../core/json-text.ts";
import type { Answer } from "../../dispatch/ports.ts";
import type { RunContext } from "../../dispatch/runner.ts";
import { defineFn, text, type FnEntry } from "./entry.ts";

const directoryGet = defineFn({
  name: "directory_get",
  summary: "One row of the directory with its version and contract.",
  operation: "read",
  ownerOnly: true,
  parameters: { key: text },
  handler: async ({ ports }, { key }) =>
    bodyOf("directory_get", await ports.stores.directory.get(key)),
});

const directoryPut = defineFn({
  name: "directory_put",
  summary: "Replaces a row of the directory, or creates it.",
  operation: "write",
  ownerOnly: true,
  parameters: { key: text, json: text },
  handler: async (context, { key, json }) =>
    bodyOf("directory_put", await context.ports.stores.directory.put(key, json, authorOf(context))),
});

const directoryPatch = defineFn({
  name: "directory_patch",
  summary: "Changes named columns of a row of the directory.",
  operation: "write",
  ownerOnly: true,
  parameters: { key: text, json: text },
  handler: async (context, { key, json }) =>
    bodyOf(
      "directory_patch",
      await context.ports.stores.directory.patch(key, json, authorOf(context)),
    ),
});

/** The change belongs to this invocation: its event names it as parent. */
function authorOf({ call, invocation }: RunContext) {
  return { principal: call.principal, via: call.via, trace: call.trace, parent: invocation };
}

/** The body of the directory API's answer; a refusal is a failure that begins with its literal. */
function bodyOf(name: string, { status, body }: Answer): Json {
  if (status < 400) return body;
  const { error, ...rest } = body;
  const more = Object.keys(rest).length > 0 ? ` ${stringifyExact(rest)}` : "";
  return `ERR:fn:${name}:${typeof error === "string" ? error : status}${more}`;
}

export const directoryFunctions: readonly FnEntry[] = [directoryGet, directoryPut, directoryPatch];
