import type { Arguments } from "./arguments.ts";
import { renderEncoded, renderPairs, renderToken, slotText } from "./substitute.ts";
import { parseTemplate, wholeSlot, type Token } from "./template.ts";

type Part = "authority" | "path" | "query" | "fragment";

/** A URL template taken apart; the template alone decides where each part begins. */
interface UrlParts {
  /** `https://`, or "" for a path on this deployment's own origin. */
  scheme: string;
  authority: Token[];
  path: Token[];
  query: Token[] | null;
  fragment: Token[] | null;
}

export type RenderedUrl = { ok: true; url: string } | { ok: false; error: string };

const BAD_PATH = { ok: false, error: "ERR:http:bad_path_argument" } as const;
const BAD_HOST = { ok: false, error: "ERR:http:bad_host_argument" } as const;

/** Stands for the deployment's own origin while a path is checked. */
const OWN_ORIGIN = "http://own.invalid";

/** Why a URL template is not usable, or null. */
export function faultOfUrl(template: string): string | null {
  const tokens = parseTemplate(template, { expressions: true });
  if (wholeSlot(tokens)) return null;
  if (tokens.some((token) => token.kind === "text" && /[\\\p{Cc}]/u.test(token.text))) {
    return "the url may hold no backslash and no control character";
  }
  const parts = splitUrl(tokens);
  if (!parts) return "the url must begin with http://, https:// or one /, or be one slot";
  if (parts.scheme === "") return null;
  return URL.canParse(`${parts.scheme}${sampleAuthority(parts.authority)}/`)
    ? null
    : "the url has no valid host";
}

/** Puts the values in; no value may choose another origin or walk up the path. */
export function renderUrl(template: string, args: Arguments): RenderedUrl {
  const tokens = parseTemplate(template, { expressions: true });
  const whole = wholeSlot(tokens);
  if (whole) {
    const url = slotText(whole, args).trim();
    return URL.canParse(url)
      ? { ok: true, url }
      : { ok: false, error: "ERR:http:bad_target:the value is no url" };
  }
  const parts = splitUrl(tokens);
  if (!parts) return { ok: false, error: "ERR:http:bad_target:the url has no scheme" };
  const authority = renderAuthority(parts.authority, args);
  const origin = authority === null ? null : originOf(parts.scheme, authority);
  if (authority === null || origin === null) return BAD_HOST;
  const path = renderPath(parts.path, args);
  if (path === null) return BAD_PATH;
  const query = parts.query && renderPairs(parts.query, args, encodeUnreserved);
  const fragment =
    parts.fragment && renderEncoded(parts.fragment, args, encodeUnreserved).replace(/^#/, "");
  const url = `${parts.scheme}${authority}${path}${query === null ? "" : `?${query}`}${fragment ? `#${fragment}` : ""}`;
  // Two slashes in front of a path would name another host.
  const parsed = URL.canParse(url, origin) ? new URL(url, origin) : null;
  return parsed?.origin === origin ? { ok: true, url } : BAD_PATH;
}

/** Everything but RFC 3986's unreserved characters. */
function encodeUnreserved(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function splitUrl(tokens: readonly Token[]): UrlParts | null {
  const [first, ...rest] = tokens;
  if (first?.kind !== "text") return null;
  const scheme = /^(?:https?:\/\/|\/(?![/\\]))/i.exec(first.text)?.[0];
  if (scheme === undefined) return null;
  const own = scheme === "/";
  const parts: UrlParts = {
    scheme: own ? "" : scheme,
    authority: [],
    path: [],
    query: null,
    fragment: null,
  };
  // Assigned in a closure, which the type checker would not see without the assertion.
  let part = (own ? "path" : "authority") as Part;
  const add = (token: Token): void => {
    (parts[part] ??= []).push(token);
  };
  const enter = (name: Part): void => {
    part = name;
    parts[part] ??= [];
  };
  const head = own ? first.text : first.text.slice(scheme.length);
  for (const token of head === "" ? rest : [{ ...first, text: head }, ...rest]) {
    if (token.kind === "text") {
      let text = token.text;
      for (let at = endOfPart(text, part); at !== -1; at = endOfPart(text, part)) {
        if (at > 0) add({ kind: "text", text: text.slice(0, at) });
        const sign = text[at];
        enter(sign === "/" ? "path" : sign === "?" ? "query" : "fragment");
        // The slash belongs to the path it opens; `?` and `#` are put back when the parts are joined.
        text = text.slice(sign === "/" ? at : at + 1);
      }
      if (text !== "") add({ kind: "text", text });
      continue;
    }
    const operator = token.kind === "expression" ? token.operator : "";
    if (operator === "/" && part === "authority") enter("path");
    if ((operator === "?" || operator === "&") && part !== "fragment") enter("query");
    if (operator === "#") enter("fragment");
    add(token);
  }
  return parts;
}

function endOfPart(text: string, part: Part): number {
  const ends = { authority: /[/?#]/, path: /[?#]/, query: /#/, fragment: /(?!)/ } as const;
  return text.search(ends[part]);
}

function originOf(scheme: string, authority: string): string | null {
  const base = scheme === "" ? OWN_ORIGIN : `${scheme}${authority}/`;
  return URL.canParse(base) ? new URL(base).origin : null;
}

/** Raw slots included: what a caller sends into the host is letters, digits, `-` and `.`, and never nothing. */
function renderAuthority(tokens: readonly Token[], args: Arguments): string | null {
  const texts = tokens.map((token) => ({
    token,
    text: renderToken(token, args, (value) => value),
  }));
  const fits = texts.every(
    ({ token, text }) => token.kind === "text" || /^[A-Za-z0-9.-]+$/.test(text),
  );
  return fits ? texts.map(({ text }) => text).join("") : null;
}

/** A host label where a name stands, a port where a port stands. */
function sampleAuthority(tokens: readonly Token[]): string {
  return tokens.reduce(
    (text, token) => text + (token.kind === "text" ? token.text : /:\d*$/.test(text) ? "1" : "a"),
    "",
  );
}

/** Null when a segment that holds a value comes out as `.` or `..` in any spelling that a URL parser knows. */
function renderPath(tokens: readonly Token[], args: Arguments): string | null {
  let path = "";
  let segment = "";
  let dynamic = false;
  for (const token of tokens) {
    const text = renderToken(token, args, encodeUnreserved);
    if (token.kind !== "text") dynamic = true;
    const [head, ...segments] = text.split(/[/\\]/);
    segment += head!;
    for (const next of segments) {
      if (dynamic && isDots(segment)) return null;
      segment = next;
      dynamic = token.kind !== "text";
    }
    path += text;
  }
  return dynamic && isDots(segment) ? null : path;
}

/** A URL parser drops line ends and outer blanks, and reads `%2e` as a dot; a raw value may end the path. */
function isDots(segment: string): boolean {
  const text = segment
    .replace(/[\p{Cc} ]/gu, "")
    .replace(/%2e/gi, ".")
    .replace(/[?#].*$/s, "");
  return text === "." || text === "..";
}
