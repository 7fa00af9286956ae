import type { Json, JsonObject } from "./json.ts";

/**
 * Fills each `{{name}}` with the value of that name: text as it is, anything else as JSON text. One pass
 * over the template, so a value is never scanned again. A name without a value stays as literal text,
 * like an unresolved `$NAME`. `textOf` prints a value that is no string.
 */
export function fillTemplate(
  template: string,
  values: JsonObject,
  textOf: (value: Json) => string,
): string {
  return template.replace(/\{\{([^{}]*)\}\}/g, (slot, inside: string) => {
    const name = inside.trim();
    return Object.hasOwn(values, name) ? textOf(values[name]!) : slot;
  });
}
