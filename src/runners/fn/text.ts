import { z } from "zod";
import { fillTemplate } from "../../core/fill.ts";
import { isJsonObject } from "../../core/json.ts";
import { readPointer, stringifyExact } from "../../core/json-text.ts";
import { lastReply } from "../../core/reply.ts";
import { zonedTime } from "../../core/zoned-time.ts";
import { defineFn, json, optional, text, type FnEntry } from "./entry.ts";

const now = defineFn({
  name: "now",
  summary: "The current date and time in a zone.",
  operation: "read",
  parameters: { zone: optional(text) },
  handler({ ports }, { zone = ports.config.TIME_ZONE }) {
    const time = zonedTime(ports.clock.now(), zone.trim());
    return time
      ? { ...time }
      : `ERR:fn:bad_arguments:now:zone must be an IANA name such as Europe/Berlin`;
  },
});

/** Takes any number of arguments of any kind, so it has no parameters to check. */
const echo: FnEntry = {
  name: "echo",
  summary: "The single argument as it is, or the array of them.",
  operation: "read",
  ownerOnly: false,
  call: (_context, given) => Promise.resolve(given.length === 1 ? given[0]! : given),
};

const lastReplyOf = defineFn({
  name: "last_reply_of",
  summary: "What stands inside the last [REPLY]…[/REPLY] of a text.",
  operation: "read",
  parameters: { text },
  handler: (_context, args) => lastReply(args.text) ?? "ERR:fn:no_reply",
});

const POINTER = /^(?:\/(?:[^~]|~[01])*)?$/u;

/** As with `select`: what a pointer does not find is null. */
const jsonGet = defineFn({
  name: "json_get",
  summary: "The value at an RFC 6901 pointer in a JSON document.",
  operation: "read",
  parameters: {
    json,
    pointer: text.refine(
      (value) => POINTER.test(value),
      "must be an RFC 6901 pointer such as /items/0",
    ),
  },
  handler: (_context, args) => readPointer(args.json, args.pointer) ?? null,
});

const template = defineFn({
  name: "template",
  summary: "A text with each {{name}} filled from a JSON object; a name without a value stays.",
  operation: "read",
  parameters: { text, json: json.pipe(z.custom(isJsonObject, "must be a JSON object")) },
  handler: (_context, args) =>
    fillTemplate(args.text, args.json, (value) =>
      typeof value === "string" ? value : stringifyExact(value),
    ),
});

export const textFunctions: readonly FnEntry[] = [now, echo, lastReplyOf, jsonGet, template];
