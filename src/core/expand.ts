import { parseTemplate as parseUriTemplate } from "url-template";
import type { Arguments } from "./arguments.ts";
import type { Json } from "./json.ts";
import { isEmpty, isTraceless, textOf } from "./slot-value.ts";
import type { ExpressionToken } from "./template.ts";

type Variable = string | string[] | { [name: string]: string };

/** One RFC 6570 expression, expanded with the call's arguments; what is absent leaves no trace. */
export function expand(token: ExpressionToken, args: Arguments): string {
  const context = Object.create(null) as { [name: string]: Variable };
  for (const { name, maxLength } of token.variables) {
    const value = variable(
      args.bindings.get(name) ?? args.named?.get(name),
      isTraceless(name, args),
    );
    if (value === undefined) continue;
    // Cut here and by code point: the library cuts between the halves of a surrogate pair and then throws.
    context[name] =
      maxLength !== null && typeof value === "string"
        ? [...value].slice(0, maxLength).join("")
        : value;
  }
  const names = token.variables.map(({ name, explode }) => (explode ? `${name}*` : name));
  return parseUriTemplate(`{${token.operator}${names.join(",")}}`).expand(context);
}

/** True when the expression stands for optional arguments alone and none of them is there. */
export function isTracelessExpression(token: ExpressionToken, args: Arguments): boolean {
  return token.variables.every(({ name }) => !args.bindings.has(name) && isTraceless(name, args));
}

/** Texts all the way down, since the library prints nested values as `[object Object]`. */
function variable(value: Json | undefined, traceless: boolean): Variable | undefined {
  if (value === undefined || value === null || traceless) return undefined;
  if (Array.isArray(value)) {
    const items = value.filter((item) => item !== null).map(textOf);
    return items.length === 0 ? undefined : items;
  }
  if (typeof value !== "object") return textOf(value);
  const members = Object.entries(value).filter(([, member]) => !isEmpty(member));
  if (members.length === 0) return undefined;
  return Object.assign(
    Object.create(null) as { [name: string]: string },
    Object.fromEntries(members.map(([name, member]) => [name, textOf(member)])),
  );
}
