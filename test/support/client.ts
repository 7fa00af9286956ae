import { exports } from "cloudflare:workers";
import type { Json } from "../../src/core/json.ts";

export const OWNER_KEY = "owner-key-of-the-test-deployment";
export const ORIGIN = "https://example.com";

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; undefined when it is none. */
  json: any;
}

interface Options {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Send no credential. */
  anonymous?: boolean;
}

/** One request to the Worker, as the owner unless said otherwise. An object body is sent as JSON. */
export async function request(path: string, options: Options = {}): Promise<Answer> {
  const { body, anonymous = false } = options;
  const method = options.method ?? (body === undefined ? "GET" : "POST");
  const headers = new Headers(options.headers);
  if (!anonymous) headers.set("x-terminal-key", OWNER_KEY);
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const response = await exports.default.fetch(`${ORIGIN}${path}`, {
    method,
    headers,
    ...(text !== undefined && { body: text }),
  });
  const answer = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(answer);
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, text: answer, json };
}

export interface RowInput {
  key: string;
  type: string;
  [column: string]: Json;
}

/** Adds or replaces a row; a missing docstring is filled in, since the tests of hygiene are elsewhere. */
export async function put(row: RowInput): Promise<Answer> {
  const content = typeof row.content === "string" ? row.content : "";
  const documented = content.startsWith("#")
    ? content
    : `# WHAT: the row ${row.key} of a test\n${content}`;
  const answer = await request(`/api/directory/${row.key}`, {
    method: "PUT",
    body: { ...row, content: documented },
  });
  if (answer.status >= 300) throw new Error(`row ${row.key} refused: ${answer.text}`);
  return answer;
}

/** Runs a row as the owner. */
export function call(
  key: string,
  input: string | Record<string, Json> = "",
  more: Record<string, unknown> = {},
): Promise<Answer> {
  const given = typeof input === "string" ? { body: input } : { args: input };
  return request("/api/dispatch", { body: { key, ...given, ...more } });
}

/** The whole receipt of an answer, from the ledger. */
export async function receipt(answer: Answer): Promise<any> {
  return (await request(`/api/dispatch?receipt=${answer.json.invocation.id}`)).json;
}
