import { isSensitiveName } from "../core/redact.ts";
import type { RequestDraft } from "../core/request.ts";

/** One request of a chain of redirects. */
export interface Hop {
  request: RequestDraft;
  /** The origin never changed since the first request. Once lost, it does not come back. */
  trusted: boolean;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Where the answer points, null when it is the end of the chain. */
export function locationOf(response: Response, from: string): URL | null {
  const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
  return location === null ? null : URL.parse(location, from);
}

/**
 * The next request (SPEC §8, and the fetch standard for methods), or null where following would carry a
 * body to another origin: what an argument said to one host is not for another. When the origin changes,
 * the credential goes and so does each header line whose name says that it holds one; http after https
 * is another origin too.
 */
export function nextHop(hop: Hop, status: number, to: URL): Hop | null {
  const { request } = hop;
  const sameOrigin = new URL(request.url).origin === to.origin;
  const becomesGet =
    (status === 303 && request.method !== "HEAD") || (status < 303 && request.method === "POST");
  const body = becomesGet ? null : request.body;
  if (body !== null && !sameOrigin) return null;
  const headers = request.headers.filter(
    ([name]) => !(becomesGet && /^content-/i.test(name)) && (sameOrigin || !isSensitiveName(name)),
  );
  return {
    request: { method: becomesGet ? "GET" : request.method, url: to.href, headers, body },
    trusted: hop.trusted && sameOrigin,
  };
}
