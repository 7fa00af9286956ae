import { z } from "zod";
import type { Operation } from "../../core/call.ts";
import type { Json } from "../../core/json.ts";
import { parseExact, stringifyExact } from "../../core/json-text.ts";
import type { RunContext } from "../../dispatch/runner.ts";

/** One built-in function. The map of them is data: gate, fingerprint and runner read the same entry. */
export interface FnEntry {
  name: string;
  summary: string;
  operation: Operation;
  ownerOnly: boolean;
  /** A result that begins `ERR:` is a failure. A throw becomes `ERR:fn:<name>:<message>`. */
  call(context: RunContext, given: Json[]): Promise<Json>;
}

interface Definition<Shape extends z.ZodRawShape> {
  name: string;
  summary: string;
  operation: Operation;
  ownerOnly?: boolean;
  /** The positional arguments in order, by the names that messages use. */
  parameters: Shape;
  handler(context: RunContext, args: z.output<z.ZodObject<Shape>>): Json | Promise<Json>;
}

export function defineFn<Shape extends z.ZodRawShape>(definition: Definition<Shape>): FnEntry {
  const { name, summary, operation, ownerOnly = false, parameters, handler } = definition;
  const names = Object.keys(parameters);
  const schema = z.object(parameters);
  const bad = (what: string): string => `ERR:fn:bad_arguments:${name}:${what}`;
  return {
    name,
    summary,
    operation,
    ownerOnly,
    async call(context, given) {
      if (given.length > names.length)
        return bad(`takes at most ${names.length}: ${names.join(", ")}`);
      const parsed = schema.safeParse(
        Object.fromEntries(given.map((value, index) => [names[index]!, value])),
      );
      if (parsed.success) return handler(context, parsed.data);
      const issue = parsed.error.issues[0]!;
      return bad(`${String(issue.path[0])} ${issue.message}`);
    },
  };
}

/** Text; another JSON value counts as its JSON text. */
export const text = z.unknown().transform((value, check) => {
  if (value === undefined) check.addIssue("is missing");
  return typeof value === "string" ? value : stringifyExact((value ?? null) as Json);
});

/** A JSON value, or text that holds one; the body of an http result may be handed on as it is. */
export const json = z.unknown().transform((value, check): Json => {
  if (value === undefined) check.addIssue("is missing");
  if (typeof value !== "string") return (value ?? null) as Json;
  try {
    return parseExact(value.replace(/^HTTP \d{3}:/, () => ""));
  } catch (error) {
    check.addIssue(`must be JSON: ${messageOf(error)}`);
    return null;
  }
});

/** An argument that may be left out: a slot without a piece is empty text, and that means absent. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (value) => (value === "" || value === null ? undefined : value),
    schema.optional(),
  );
}

/** Text of at most `maxBytes` UTF-8 bytes. */
export function boundedText(maxBytes: number) {
  return text.refine(
    (value) => Buffer.byteLength(value) <= maxBytes,
    `must be at most ${maxBytes} bytes`,
  );
}

/** Name of a stored value: not empty, within the store's limit once the prefix stands in front. */
export function storeKey(prefix: string, maxBytes: number) {
  return boundedText(maxBytes - prefix.length)
    .refine((value) => value !== "", "must not be empty")
    .transform((value) => prefix + value);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
