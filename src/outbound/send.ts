/**
 * The one way out (SPEC §5 and §8). Everything that leaves this deployment for a row passes here: host
 * policy, host binding, credential, redirects, time, size and redaction.
 */
import { memo } from "../core/memo.ts";
import { applyAuth } from "../core/auth.ts";
import type { BreakerSignal, Credential, RunResult } from "../core/call.ts";
import { boundTo, hostOf, judgeTarget } from "../core/host-policy.ts";
import { redactValues, type SecretValue } from "../core/redact.ts";
import type { RequestDraft } from "../core/request.ts";
import { VERSION } from "../core/version.ts";
import type { Ports } from "../dispatch/ports.ts";
import { cancel } from "./body.ts";
import { exchange, resultOf, type Exchanged } from "./exchange.ts";
import { locationOf, nextHop, type Hop } from "./redirect.ts";

export type SendPorts = Pick<Ports, "config" | "clock" | "fetch">;

export interface SendOptions {
  /** Key of the row, for the text of a refusal. */
  key: string;
  /** This deployment's own origin: never reached from outside, neither directly nor by a redirect. */
  origin: string;
}

const MAX_REDIRECTS = 5;
const MAX_TRIES = 3;
const MAX_RETRY_AFTER_MS = 5_000;
const FIRST_BACKOFF_MS = 200;
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Sends a request with its credential. Never throws; a refusal before the first byte has no signal. */
export async function send(
  ports: SendPorts,
  request: RequestDraft,
  credential: Credential,
  options: SendOptions,
): Promise<RunResult> {
  const absent = credential.secrets.find(({ value }) => value === null);
  const note = absent && { auth: { name: absent.name, present: false as const } };
  const refused = refusalOf(ports, { request, trusted: true }, credential, options);
  if (refused !== null) return { ok: false, result: refused, attempts: 1, ...note };

  const trip: Trip = { ports, credential, options, requests: 0 };
  const { got, waitMs } = await tryUntilAnswered(trip, request);
  const { ok, result } = resultOf(got, ports.config);
  const truncated = got.kind === "answer" && got.truncated;
  const retryAfter =
    got.kind === "answer" && waitMs === null ? got.headers.get("retry-after") : null;
  return {
    ok,
    result: redactValues(result, valuesOf(credential), { cut: truncated }),
    attempts: Math.max(1, trip.requests),
    ...(truncated && { truncated: true as const }),
    ...(retryAfter !== null && { retryAfter: redactValues(retryAfter, valuesOf(credential)) }),
    ...(trip.requests > 0 && { signal: signalOf(got) }),
    ...note,
  };
}

interface Trip {
  ports: SendPorts;
  credential: Credential;
  options: SendOptions;
  /** Requests made so far, retries and redirects included. */
  requests: number;
}

/**
 * GET and HEAD are tried again, at most twice. Any other method is sent once: an answer that was lost
 * does not say that nothing was done.
 */
async function tryUntilAnswered(
  trip: Trip,
  request: RequestDraft,
): Promise<{ got: Exchanged; waitMs: number | null }> {
  const repeatable = request.method === "GET" || request.method === "HEAD";
  for (let tries = 1; ; tries += 1) {
    const got = await exchange(trip.ports.config, (signal) => follow(trip, request, signal));
    const waitMs = repeatable ? waitBefore(tries, got, trip.ports.clock.now()) : null;
    if (waitMs === null || tries === MAX_TRIES) return { got, waitMs };
    await trip.ports.clock.sleep(waitMs);
  }
}

/** Milliseconds before the next try; null for an end. A time-out has used up its time and is an end. */
function waitBefore(tries: number, got: Exchanged, nowMs: number): number | null {
  const backoffMs = FIRST_BACKOFF_MS * 2 ** (tries - 1);
  if (got.kind === "silence") return backoffMs;
  if (got.kind !== "answer" || !RETRIED.has(got.status)) return null;
  const asked = (got.headers.get("retry-after") ?? "").trim();
  const askedMs = /^\d+$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - nowMs;
  if (Number.isNaN(askedMs)) return backoffMs;
  return askedMs > MAX_RETRY_AFTER_MS ? null : Math.max(0, askedMs);
}

/** The request and its redirects, each hop judged as the first one was. */
async function follow(
  trip: Trip,
  request: RequestDraft,
  signal: AbortSignal,
): Promise<Response | { error: string }> {
  const { ports, credential, options } = trip;
  let hop: Hop = { request, trusted: true };
  for (let followed = 0; ; followed += 1) {
    const built = requestOf(hop, credential, options.key, signal);
    if ("error" in built) return built;
    trip.requests += 1;
    const response = await ports.fetch(built.request);
    const to = locationOf(response, hop.request.url);
    if (to === null) return response;
    cancel(response.body, "redirected");
    const next = nextHop(hop, response.status, to);
    if (next === null) return new Response(to.href, { status: response.status, headers: TEXT });
    if (followed === MAX_REDIRECTS) return { error: "ERR:http:fetch:too many redirects" };
    const error = refusalOf(ports, next, credential, options);
    if (error !== null) return { error };
    hop = next;
  }
}

const TEXT = { "content-type": "text/plain; charset=utf-8" };

const hostOfOrigin = memo((origin: string) => bareHost(new URL(origin)), 64);

/** Why this hop must not be sent, null if it may. */
function refusalOf(
  ports: SendPorts,
  hop: Hop,
  credential: Credential,
  options: SendOptions,
): string | null {
  const url = URL.parse(hop.request.url);
  if (url === null) return "ERR:http:fetch:the target is not a URL";
  const ownHost = hostOfOrigin(options.origin);
  const blocked =
    judgeTarget(url, ports.config.ALLOW_PRIVATE_HOSTS) ??
    (ownHost === bareHost(url) ? hostOf(url) : null);
  if (blocked !== null) return `ERR:http:blocked_host:${blocked}`;
  // A fetch takes é and throws at ć: one rule for both.
  if (hop.request.headers.some(([, value]) => /[^\t\x20-\x7e]/.test(value))) {
    return "ERR:http:bad_header_argument";
  }
  for (const { name, value, hosts } of credential.secrets) {
    if (value === null || boundTo(url, hosts)) continue;
    // Without the credential applied, an upstream may still have put the secret into its Location.
    if (hop.trusted || redactValues(url.href, [{ name, value }]) !== url.href) {
      return `ERR:http:${options.key}:ERR:auth:host_not_bound:${name}:${hostOf(url)}`;
    }
  }
  return null;
}

/** `example.com.` is the same host as `example.com`. */
function bareHost(url: URL): string {
  return hostOf(url).replace(/\.(?=:|$)/, "");
}

/** The request as it leaves: credential last, and a User-Agent, without which some APIs answer 403. */
function requestOf(
  hop: Hop,
  credential: Credential,
  key: string,
  signal: AbortSignal,
): { request: Request } | { error: string } {
  const values = new Map(credential.secrets.map(({ name, value }) => [name, value]));
  const applied = applyAuth(hop.trusted ? credential.auth : null, values, hop.request);
  if (!applied.ok) return { error: `ERR:http:${key}:ERR:auth:${applied.reason}` };
  const { method, url, headers, body } = applied.request;
  try {
    const lines = new Headers(headers);
    if (!lines.has("user-agent")) lines.set("user-agent", `rowcall/${VERSION}`);
    const bodiless = body === null || method === "GET" || method === "HEAD";
    const init = { method, headers: lines, redirect: "manual" as const, signal };
    return { request: new Request(url, bodiless ? init : { ...init, body }) };
  } catch {
    return { error: "ERR:http:fetch:the request is not well-formed HTTP" };
  }
}

function signalOf(got: Exchanged): BreakerSignal {
  if (got.kind === "timeout" || got.kind === "silence") return "transport";
  if (got.kind === "refused") return "healthy"; // an upstream answered, with a redirect that was refused
  if (got.status === 401 || got.status === 403) return "auth";
  return got.status >= 502 && got.status <= 504 ? "transport" : "healthy";
}

function valuesOf(credential: Credential): SecretValue[] {
  return credential.secrets.flatMap(({ name, value }) => (value === null ? [] : [{ name, value }]));
}
