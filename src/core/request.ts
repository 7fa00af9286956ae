import type { Arguments } from "./arguments.ts";
import { memo } from "./memo.ts";
import { isJsonText } from "./json-text.ts";
import {
  isJsonTemplate,
  isTracelessPlace,
  renderEncoded,
  renderForm,
  renderJson,
  renderText,
} from "./substitute.ts";
import { parseTemplate, wholeSlot } from "./template.ts";
import { faultOfUrl, renderUrl } from "./url.ts";

/** The head of an http row (SPEC §1): `METHOD url`, then `Name: value` lines. All but the method are templates. */
export type Target =
  | { ok: true; method: string; url: string; headers: [string, string][] }
  | { ok: false; reason: string };

/** What will be sent, but for the credential. A url that begins with `/` is on this deployment's own origin. */
export interface RequestDraft {
  method: string;
  url: string;
  headers: [string, string][];
  body: string | null;
}

export type BuiltRequest = { ok: true; request: RequestDraft } | { ok: false; error: string };

/** The platform refuses to send these. */
const REFUSED_METHODS: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);

/** They frame the message or belong to `auth`; a row that set them could smuggle a second request. */
const REFUSED_HEADERS: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "cookie",
]);

const FORM = "application/x-www-form-urlencoded";

export function parseTarget(target: string | null): Target {
  return knownTarget(target ?? "");
}

/** A row is called more often than it is written. What is returned is shared, and nobody changes it. */
const knownTarget = memo(readTarget, 512);

function readTarget(target: string): Target {
  const [head = "", ...lines] = target.trim().split(/\r?\n/);
  const match = /^([A-Za-z][A-Za-z0-9_-]*)[ \t]+(\S+)$/.exec(head.trim());
  if (!match) return { ok: false, reason: "the first line must be METHOD url" };
  const method = match[1]!.toUpperCase();
  const url = match[2]!;
  if (REFUSED_METHODS.has(method)) return { ok: false, reason: `the method ${method} is not sent` };
  const fault = faultOfUrl(url);
  if (fault) return { ok: false, reason: fault };
  const headers: [string, string][] = [];
  for (const line of lines.filter((text) => text.trim() !== "")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).trim();
    const value = line.slice(colon + 1).trim();
    // A `$` would be a slot in a name; a name is never a template.
    if (!/^[A-Za-z0-9!#%&'*+.^_`|~-]+$/.test(name))
      return { ok: false, reason: "a header line must be Name: value" };
    if (REFUSED_HEADERS.has(name.toLowerCase()))
      return { ok: false, reason: `the header ${name} may not be set` };
    if (!isHeaderText(value))
      return { ok: false, reason: `the header ${name} may hold printable ASCII only` };
    headers.push([name, value]);
  }
  return { ok: true, method, url, headers };
}

/** Each value by the position it lands in; an argument that fits none is an error and nothing is sent. */
export function buildRequest(
  target: string | null,
  payload: string,
  args: Arguments,
): BuiltRequest {
  const parsed = parseTarget(target);
  if (!parsed.ok) return { ok: false, error: `ERR:http:bad_target:${parsed.reason}` };
  const url = renderUrl(parsed.url, args);
  if (!url.ok) return url;
  const headers = parsed.headers
    .map(([name, value]) => [name, parseTemplate(value, { expressions: true })] as const)
    .filter(([, tokens]) => !isTracelessPlace(tokens, args))
    .map(([name, tokens]): [string, string] => [name, renderEncoded(tokens, args, (text) => text)]);
  if (!headers.every(([, value]) => isHeaderText(value)))
    return { ok: false, error: "ERR:http:bad_header_argument" };
  const { method } = parsed;
  const sendsBody = method !== "GET" && method !== "HEAD" && payload !== "";
  const stated = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1].toLowerCase();
  const { text, type } = sendsBody ? renderBody(payload, args, stated) : { text: "", type: "" };
  if (text !== "" && stated === undefined) headers.push(["content-type", type]);
  return { ok: true, request: { method, url: url.url, headers, body: text === "" ? null : text } };
}

/** A stated type decides how values are escaped; without one the payload itself shows whether it is JSON. */
function renderBody(
  payload: string,
  args: Arguments,
  stated: string | undefined,
): { text: string; type: string } {
  if (stated?.startsWith(FORM)) return { text: renderForm(payload, args), type: FORM };
  if (wholeSlot(parseTemplate(payload))) {
    const text = renderText(payload, args);
    return { text, type: isJsonText(text) ? "application/json" : "text/plain" };
  }
  return stated?.includes("json") || isJsonTemplate(payload)
    ? { text: renderJson(payload, args), type: "application/json" }
    : { text: renderText(payload, args), type: "text/plain" };
}

function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
