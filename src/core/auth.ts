import type { RequestDraft } from "./request.ts";

/** A parsed auth column: how to apply a credential and the NAMEs of the secrets, never a value. */
export type Auth =
  | { form: "bearer"; name: string }
  | { form: "basic"; name: string }
  /** Header templates in which `$NAME` stands for a secret's value. */
  | { form: "headers"; headers: [string, string][] }
  | { form: "query"; parameter: string; name: string };

export type ParsedAuth =
  | { ok: true; auth: Auth | null; names: string[] }
  /** `reason` is what stands after `ERR:http:<KEY>:ERR:auth:`. */
  | { ok: false; reason: string };

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Greedy, so `$API_KEY` is never read as `$API` followed by text. */
const SLOT = /\$([A-Za-z_][A-Za-z0-9_]*)/g;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const VISIBLE_ASCII = /^[\t\x20-\x7e]*$/;
/** These frame the message: a row that sets one could smuggle a second request (SPEC §4). */
const FRAMING: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
]);
/** A longer prefix is no prefix but perhaps a credential that somebody pasted: it is not repeated. */
const MAX_PREFIX = 24;

/** Reads an auth column (SPEC §8). No reason ever repeats what stands where a NAME belongs. */
export function parseAuth(auth: string | null): ParsedAuth {
  const text = (auth ?? "").trim();
  if (text === "") return { ok: true, auth: null, names: [] };
  const colon = text.indexOf(":");
  const prefix = colon < 0 ? text : text.slice(0, colon);
  const rest = colon < 0 ? "" : text.slice(colon + 1).trim();
  switch (prefix) {
    case "bearer":
    case "basic":
      return NAME.test(rest)
        ? { ok: true, auth: { form: prefix, name: rest }, names: [rest] }
        : { ok: false, reason: "bad_name" };
    case "headers":
      return parseHeaders(rest);
    case "query":
      return parseQuery(rest);
    default:
      return { ok: false, reason: `unknown_prefix:${prefix.length > MAX_PREFIX ? "…" : prefix}` };
  }
}

function parseHeaders(json: string): ParsedAuth {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { ok: false, reason: "bad_headers_json" };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { ok: false, reason: "bad_headers_json" };
  }
  const headers: [string, string][] = [];
  const seen = new Set<string>();
  const names = new Set<string>();
  for (const [header, template] of Object.entries(value)) {
    const lower = header.toLowerCase();
    const fit = HEADER_NAME.test(header) && !FRAMING.has(lower) && !seen.has(lower);
    if (!fit || typeof template !== "string" || !VISIBLE_ASCII.test(template)) {
      return {
        ok: false,
        reason: HEADER_NAME.test(header) ? `bad_header:${header}` : "bad_header",
      };
    }
    seen.add(lower);
    headers.push([header, template]);
    for (const name of slotsOf(template)) names.add(name);
  }
  if (headers.length === 0) return { ok: false, reason: "bad_headers_json" };
  return { ok: true, auth: { form: "headers", headers }, names: [...names] };
}

function parseQuery(text: string): ParsedAuth {
  const equals = text.lastIndexOf("=");
  const parameter = text.slice(0, Math.max(equals, 0)).trim();
  const name = text.slice(equals + 1).trim();
  if (parameter === "" || !parameter.isWellFormed()) return { ok: false, reason: "bad_query" };
  if (!NAME.test(name)) return { ok: false, reason: "bad_name" };
  return { ok: true, auth: { form: "query", parameter, name }, names: [name] };
}

function slotsOf(template: string): string[] {
  return [...template.matchAll(SLOT)].map((match) => match[1]!);
}

export type Applied = { ok: true; request: RequestDraft } | { ok: false; reason: string };

/**
 * Puts a credential on a request; the last thing that happens to one. A value that is absent applies
 * nothing. It wins over a header line or a query pair of the same name, so that an argument of the row
 * can neither double nor replace it. A refusal names the secret and never shows its value.
 */
export function applyAuth(
  auth: Auth | null,
  values: ReadonlyMap<string, string | null>,
  draft: RequestDraft,
): Applied {
  if (auth === null) return { ok: true, request: draft };
  if (auth.form === "headers") return applyHeaders(auth.headers, values, draft);
  const value = values.get(auth.name) ?? null;
  if (value === null) return { ok: true, request: draft };
  // Basic and query encode the value, so they carry any character but the line break nobody means.
  const fault = faultOf(auth.name, value, auth.form === "bearer");
  if (fault !== null) return { ok: false, reason: fault };
  if (auth.form === "query") {
    return { ok: true, request: { ...draft, url: withPair(draft.url, auth.parameter, value) } };
  }
  const credential =
    auth.form === "bearer"
      ? `Bearer ${value}`
      : `Basic ${Buffer.from(value.includes(":") ? value : `${value}:`).toString("base64")}`;
  return { ok: true, request: withHeaders(draft, [["Authorization", credential]]) };
}

function applyHeaders(
  templates: readonly [string, string][],
  values: ReadonlyMap<string, string | null>,
  draft: RequestDraft,
): Applied {
  const lines: [string, string][] = [];
  for (const [header, template] of templates) {
    const names = slotsOf(template);
    if (names.some((name) => (values.get(name) ?? null) === null)) continue;
    for (const name of names) {
      const fault = faultOf(name, values.get(name)!, true);
      if (fault !== null) return { ok: false, reason: fault };
    }
    lines.push([header, template.replace(SLOT, (_slot, name: string) => values.get(name)!)]);
  }
  return { ok: true, request: withHeaders(draft, lines) };
}

function faultOf(name: string, value: string, inHeader: boolean): string | null {
  if (/[\r\n]/.test(value)) return `secret ${name} contains a line break`;
  if (inHeader && !VISIBLE_ASCII.test(value)) {
    return `secret ${name} contains a character that a header cannot carry`;
  }
  return null;
}

function withHeaders(draft: RequestDraft, lines: [string, string][]): RequestDraft {
  const names = new Set(lines.map(([name]) => name.toLowerCase()));
  const kept = draft.headers.filter(([name]) => !names.has(name.toLowerCase()));
  return { ...draft, headers: [...kept, ...lines] };
}

/** Works on the text, since URLSearchParams would re-print every other pair of the query. */
function withPair(url: string, parameter: string, value: string): string {
  const [address = ""] = url.split("#", 1);
  const mark = address.indexOf("?");
  const query = mark < 0 ? "" : address.slice(mark + 1);
  const kept = query.split("&").filter((pair) => pair !== "" && nameOfPair(pair) !== parameter);
  const added = `${encodeURIComponent(parameter)}=${encodeURIComponent(value.toWellFormed())}`;
  return `${mark < 0 ? address : address.slice(0, mark)}?${[...kept, added].join("&")}`;
}

function nameOfPair(pair: string): string {
  const [name] = new URLSearchParams(pair).keys();
  return name ?? "";
}
