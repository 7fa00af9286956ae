import { parseAuth } from "./auth.ts";
import type { Principal } from "./principal.ts";
import type { Row } from "./row.ts";

/** A row's own words as one caller may read them. */
export type ShowText = (text: string) => string;

type Guarded = Pick<Row, "target" | "auth" | "content">;

const HOST = /https?:\/\/(?:[^\s/?#@"'\\]*@)?([^\s/?#"'\\]+)/gi;
const NAMED_SECRET = /\b(?:bearer|basic|oauth):([A-Za-z_][A-Za-z0-9_]*)/g;

/**
 * To a stranger a row names no secret and no upstream host, also where its author wrote them into the
 * documentation (SPEC §6). Anybody with a credential reads the words as they stand.
 */
export function shownTo(principal: Principal, row: Guarded): ShowText {
  if (principal.kind !== "anonymous") return (text) => text;
  const hosts = hostsOf(`${row.target ?? ""}\n${payloadOf(row.content)}`);
  const secrets = secretsOf(row);
  return (text) => {
    const hidden = hosts.reduce((shown, host) => replaceAll(shown, host, "[host]"), text);
    return secrets.reduce((shown, name) => replaceAll(shown, name, "[secret]"), hidden);
  };
}

/** Longest first, so that `api.x.ai:8443` goes before `api.x.ai`. */
function hostsOf(text: string): string[] {
  const hosts = new Set<string>();
  for (const [, authority] of text.matchAll(HOST)) {
    hosts.add(authority!);
    hosts.add(authority!.replace(/:\d+$/, ""));
  }
  return [...hosts]
    .filter((host) => /[A-Za-z0-9]/.test(host) && !host.startsWith("$"))
    .sort(byLength);
}

function secretsOf(row: Guarded): string[] {
  const parsed = parseAuth(row.auth);
  const rest = row.auth?.slice(row.auth.indexOf(":") + 1) ?? "";
  // A column that does not parse may still name a secret: every word of it is taken for one.
  const names = parsed.ok ? parsed.names : (rest.match(/[A-Za-z_][A-Za-z0-9_]{2,}/g) ?? []);
  const nested = [...payloadOf(row.content).matchAll(NAMED_SECRET)].map((match) => match[1]!);
  return [...new Set([...names, ...nested])].sort(byLength);
}

function payloadOf(content: string | null): string {
  return (content ?? "")
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n");
}

function byLength(left: string, right: string): number {
  return right.length - left.length;
}

/** Whatever the ASCII case; folding only ASCII keeps every index where it was. */
function replaceAll(text: string, word: string, replacement: string): string {
  const lower = (part: string): string => part.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const [hay, needle] = [lower(text), lower(word)];
  let result = "";
  let at = 0;
  for (let found = hay.indexOf(needle); found >= 0; found = hay.indexOf(needle, at)) {
    result += text.slice(at, found) + replacement;
    at = found + word.length;
  }
  return result + text.slice(at);
}

/** At most `max` characters, ended at a word if one ends in the last third, with a sign that there is more. */
export function brief(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max - 1).toWellFormed();
  const space = kept.lastIndexOf(" ");
  return `${(space > max * 0.66 ? kept.slice(0, space) : kept).replace(/\uFFFD$/, "")}…`;
}
