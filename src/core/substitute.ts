import { splitBody, type Arguments } from "./arguments.ts";
import { expand, isTracelessExpression } from "./expand.ts";
import { isJsonText } from "./json-text.ts";
import { slotValue } from "./slot-value.ts";
import {
  parseTemplate,
  wholeSlot,
  type ExpressionToken,
  type SlotToken,
  type Token,
} from "./template.ts";

/**
 * Putting values into templates, each by the position it lands in (SPEC §4). Every function goes once over
 * the tokens of the template; where a position begins and ends is read from the template alone.
 */
export function renderText(template: string, args: Arguments): string {
  return parseTemplate(template)
    .map((token) =>
      token.kind === "slot" ? slotText(token, args) : token.kind === "text" ? token.text : "",
    )
    .join("");
}

/** Inside a JSON string a value is escaped; outside it is one whole value, so none can add a member. */
export function renderJson(template: string, args: Arguments): string {
  const tokens = parseTemplate(template);
  const whole = wholeSlot(tokens);
  if (whole) return slotText(whole, args);
  return renderByQuotes(tokens, (token, quoted) => {
    const value = slotValue(token, args);
    if (!value) return token.source;
    if (token.raw) return value.text;
    return quoted ? escapeJson(value.text) : value.json();
  });
}

/** True when the template, with any values put in, is one JSON document. */
export function isJsonTemplate(template: string): boolean {
  const tokens = parseTemplate(template);
  // A raw slot may stand for a value or for whole members: `{"a":"$1",$$2}`.
  return ["null", '"":null'].some((raw) =>
    isJsonText(renderByQuotes(tokens, (token, quoted) => (quoted ? "" : token.raw ? raw : "null"))),
  );
}

/** application/x-www-form-urlencoded: a pair that is one absent optional argument is left out. */
export function renderForm(template: string, args: Arguments): string {
  const tokens = parseTemplate(template, { expressions: true });
  const whole = wholeSlot(tokens);
  return whole ? slotText(whole, args) : (renderPairs(tokens, args, encodeForm) ?? "");
}

/**
 * A flow step's pieces: split first, so that no value can add a piece. A body, or a piece, that is a JSON
 * object or list is filled as JSON, so that no value can add a member; a body that is one is not split.
 */
export function renderStepBody(template: string, args: Arguments): string[] {
  const pieces = isJsonContainer(template) ? [template] : splitBody(template);
  return pieces.map((piece) =>
    isJsonContainer(piece) ? renderJson(piece, args) : renderText(piece, args),
  );
}

function isJsonContainer(template: string): boolean {
  return /^\s*[[{]/.test(template) && isJsonTemplate(template);
}

/** The value as it is; an unresolved name is the text it was written as. */
export function slotText(token: SlotToken, args: Arguments): string {
  return slotValue(token, args)?.text ?? token.source;
}

/** Literal text stays, slots are encoded (raw ones not), expressions expand. */
export function renderEncoded(
  tokens: readonly Token[],
  args: Arguments,
  encode: (text: string) => string,
): string {
  return tokens.map((token) => renderToken(token, args, encode)).join("");
}

export function renderToken(
  token: Token,
  args: Arguments,
  encode: (text: string) => string,
): string {
  if (token.kind === "text") return token.text;
  if (token.kind === "expression") return expand(token, args);
  const value = slotValue(token, args);
  if (!value) return token.source;
  return token.raw ? value.text : encode(value.text);
}

/** `name=value` pairs joined by `&`, in a query or a form body. Null: every pair was left out. */
export function renderPairs(
  tokens: readonly Token[],
  args: Arguments,
  encode: (text: string) => string,
): string | null {
  const pairs = splitPairs(tokens)
    .map((pair) => renderPair(pair, args, encode))
    .filter((pair) => pair !== null);
  return pairs.length === 0 ? null : pairs.join("&");
}

/** True when the tokens are one slot or expression whose optional arguments are all absent. */
export function isTracelessPlace(tokens: readonly Token[], args: Arguments): boolean {
  const [token] = tokens;
  if (tokens.length !== 1 || token === undefined || token.kind === "text") return false;
  if (token.kind === "expression") return isTracelessExpression(token, args);
  return slotValue(token, args)?.traceless ?? false;
}

/** A pair ends at a literal `&` only; `{?a,b}` and `{&a,b}` bring their own. */
function splitPairs(tokens: readonly Token[]): Token[][] {
  const pairs: Token[][] = [[]];
  let afterExpression = false;
  for (const token of tokens) {
    if (bringsPairs(token)) {
      if (pairs.at(-1)!.length === 0) pairs.pop();
      pairs.push([token]);
      afterExpression = true;
      continue;
    }
    const [first, ...rest] = token.kind === "text" ? token.text.split("&") : [token];
    if (afterExpression && first !== "") pairs.push([]);
    afterExpression = false;
    push(pairs.at(-1)!, first!);
    for (const text of rest) {
      pairs.push([]);
      push(pairs.at(-1)!, text);
    }
  }
  return pairs;
}

function push(pair: Token[], part: Token | string): void {
  if (typeof part !== "string") pair.push(part);
  else if (part !== "") pair.push({ kind: "text", text: part });
}

function bringsPairs(token: Token): token is ExpressionToken {
  return token.kind === "expression" && (token.operator === "?" || token.operator === "&");
}

function renderPair(
  pair: readonly Token[],
  args: Arguments,
  encode: (text: string) => string,
): string | null {
  const [first] = pair;
  if (first && bringsPairs(first)) return expand(first, args).slice(1) || null;
  if (isTracelessPlace(pair, args) || isTracelessPlace(valueOf(pair), args)) return null;
  return renderEncoded(pair, args, encode);
}

/** What stands behind the first literal `=` of a pair. */
function valueOf(pair: readonly Token[]): readonly Token[] {
  const at = pair.findIndex((token) => token.kind === "text" && token.text.includes("="));
  const equals = pair[at];
  if (equals?.kind !== "text") return [];
  const behind = equals.text.slice(equals.text.indexOf("=") + 1);
  return [
    ...(behind === "" ? [] : [{ kind: "text" as const, text: behind }]),
    ...pair.slice(at + 1),
  ];
}

/** Only the literal text of the template opens and closes a string. */
function renderByQuotes(
  tokens: readonly Token[],
  put: (token: SlotToken, quoted: boolean) => string,
): string {
  let quoted = false;
  return tokens
    .map((token) => {
      if (token.kind === "slot") return put(token, quoted);
      if (token.kind === "expression") return "";
      for (let at = 0; at < token.text.length; at++) {
        if (token.text[at] === '"') quoted = !quoted;
        else if (quoted && token.text[at] === "\\") at++;
      }
      return token.text;
    })
    .join("");
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As the URL standard serialises forms: a space is `+`. */
function encodeForm(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}
