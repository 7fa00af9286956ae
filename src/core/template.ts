import { memo } from "./memo.ts";

/**
 * The one tokenizer of templates (SPEC §4). Values are put in token by token, so an inserted value is never
 * read again and cannot act as a slot.
 *
 *   `$1` piece 1      `$2+` pieces 2 to the end      `$NAME` a binding or a named argument
 *   `$$1` `$$2+` `$$NAME` the same without escaping          `\$` a dollar that begins no slot
 *   `{name}` `{?a,b}` `{/path*}` RFC 6570, where the caller asks for expressions
 *
 * A run of backslashes before `$` escapes it when the run is odd and stays whole otherwise: in a JSON
 * string `\\$1` is an escaped backslash and then a slot.
 */
export type Token = TextToken | SlotToken | ExpressionToken;

export interface TextToken {
  kind: "text";
  text: string;
}

export interface SlotToken {
  kind: "slot";
  slot: { by: "position"; index: number; rest: boolean } | { by: "name"; name: string };
  /** `$$…`: inserted without escaping. */
  raw: boolean;
  /** As written; an unresolved name stays this text. */
  source: string;
}

export interface ExpressionToken {
  kind: "expression";
  operator: "" | "+" | "#" | "." | "/" | ";" | "?" | "&";
  variables: { name: string; explode: boolean; maxLength: number | null }[];
}

const SPECIAL = /[\\${]/g;
const SLOT = /\$\$?(?:([1-9]\d{0,8})(\+?)|([A-Za-z_]\w*))/y;
const EXPRESSION =
  /\{([+#./;?&]?)([\w.-]+(?:\*|:[1-9]\d{0,3})?(?:,[\w.-]+(?:\*|:[1-9]\d{0,3})?)*)\}/y;
const VARIABLE = /^([\w.-]+)(\*)?(?::(\d+))?$/;

export function parseTemplate(
  template: string,
  options: { expressions: boolean } = { expressions: false },
): readonly Token[] {
  return options.expressions ? knownWithExpressions(template) : knownPlain(template);
}

/** A row is called more often than it is written; a payload may be long, so few are kept. */
const knownPlain = memo((template: string) => readTemplate(template, { expressions: false }), 256);
const knownWithExpressions = memo(
  (template: string) => readTemplate(template, { expressions: true }),
  256,
);

function readTemplate(template: string, options: { expressions: boolean }): readonly Token[] {
  const tokens: Token[] = [];
  let text = "";
  let at = 0;
  while (at < template.length) {
    const special = next(template, at);
    text += template.slice(at, special);
    at = special;
    if (at === template.length) break;
    const char = template[at]!;
    if (char === "\\") {
      const end = endOfRun(template, at);
      const escapes = template[end] === "$" && (end - at) % 2 === 1;
      text += escapes ? `${template.slice(at, end - 1)}$` : template.slice(at, end);
      at = escapes ? end + 1 : end;
      continue;
    }
    const token =
      char === "$"
        ? readSlot(template, at)
        : options.expressions
          ? readExpression(template, at)
          : null;
    if (!token) {
      text += char;
      at++;
      continue;
    }
    if (text !== "") tokens.push({ kind: "text", text });
    text = "";
    tokens.push(token.token);
    at = token.end;
  }
  if (text !== "") tokens.push({ kind: "text", text });
  return tokens;
}

/** The highest position that a template names: how many pieces a body for it has. */
export function countSlots(template: string): number {
  const positions = parseTemplate(template).map((token) =>
    token.kind === "slot" && token.slot.by === "position" ? token.slot.index : 0,
  );
  return positions.reduce((most, index) => Math.max(most, index), 0);
}

/** The slot that is the whole template, if it is one; its value then stands as is, whatever the position. */
export function wholeSlot(tokens: readonly Token[]): SlotToken | null {
  const [first] = tokens;
  return tokens.length === 1 && first?.kind === "slot" ? first : null;
}

function next(template: string, from: number): number {
  SPECIAL.lastIndex = from;
  return SPECIAL.exec(template)?.index ?? template.length;
}

function endOfRun(template: string, from: number): number {
  let end = from;
  while (template[end] === "\\") end++;
  return end;
}

function readSlot(template: string, at: number): { token: SlotToken; end: number } | null {
  SLOT.lastIndex = at;
  const match = SLOT.exec(template);
  if (!match) return null;
  const [source, index, plus, name] = match;
  const slot =
    index === undefined
      ? { by: "name" as const, name: name! }
      : { by: "position" as const, index: Number(index), rest: plus === "+" };
  return {
    token: { kind: "slot", slot, raw: source.startsWith("$$"), source },
    end: at + source.length,
  };
}

function readExpression(
  template: string,
  at: number,
): { token: ExpressionToken; end: number } | null {
  EXPRESSION.lastIndex = at;
  const match = EXPRESSION.exec(template);
  if (!match) return null;
  const variables = match[2]!.split(",").map((spec) => {
    const [, name, explode, maxLength] = VARIABLE.exec(spec)!;
    return {
      name: name!,
      explode: explode === "*",
      maxLength: maxLength ? Number(maxLength) : null,
    };
  });
  const operator = match[1] as ExpressionToken["operator"];
  return { token: { kind: "expression", operator, variables }, end: at + match[0].length };
}
