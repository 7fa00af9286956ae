import type { Arguments } from "./arguments.ts";
import type { Json } from "./json.ts";
import { isJsonText, stringifyExact } from "./json-text.ts";
import type { SlotToken } from "./template.ts";

/** What a slot comes to for one call, before any escaping. */
export interface SlotValue {
  /** As text; empty for what is absent or null. */
  text: string;
  /** As one JSON value: typed for a named argument, else the text itself if it is JSON, else quoted. */
  json(): string;
  /** An optional argument of a schema that is absent, "", [] or null: its place may be left out. */
  traceless: boolean;
}

const ABSENT: SlotValue = { text: "", json: () => "null", traceless: false };

/** Null: a name that nothing binds, which stays as it is written. */
export function slotValue({ slot }: SlotToken, args: Arguments): SlotValue | null {
  if (slot.by === "name") return namedValue(slot.name, args);
  const given = args.pieces.slice(slot.index - 1, slot.rest ? undefined : slot.index);
  const name = args.declared[slot.index - 1];
  const traceless =
    name !== undefined &&
    given.every((text) => text === "" || text === "[]") &&
    isTraceless(name, args);
  if (given.length === 0 || (name !== undefined && !slot.rest && !args.named?.has(name))) {
    return { ...ABSENT, traceless };
  }
  const text = given.join("|");
  return { text, json: () => jsonOfText(text), traceless };
}

function namedValue(name: string, args: Arguments): SlotValue | null {
  const bound = args.bindings.get(name);
  if (bound !== undefined) return { text: bound, json: () => jsonOfText(bound), traceless: false };
  const value = args.named?.get(name);
  if (value === undefined) {
    return args.declared.includes(name) ? { ...ABSENT, traceless: isTraceless(name, args) } : null;
  }
  return {
    text: textOf(value),
    json: () => stringifyExact(value),
    traceless: isTraceless(name, args),
  };
}

/** Without a schema nothing is optional: an empty piece is a value of its own (`&longitude=`). */
export function isTraceless(name: string, args: Arguments): boolean {
  if (args.declared.length === 0 || args.required.has(name)) return false;
  return isEmpty(args.named?.get(name));
}

export function isEmpty(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === "" ||
    (Array.isArray(value) && value.length === 0)
  );
}

/** Null has no text of its own: the word `null` would be a value to the other side. */
export function textOf(value: Json): string {
  if (typeof value === "string") return value;
  return value === null ? "" : stringifyExact(value);
}

/** One valid JSON value cannot end the place it stands in, so it goes in digit by digit. */
function jsonOfText(text: string): string {
  return isJsonText(text) ? text : JSON.stringify(text);
}
