import type { Capability, RunResult } from "../core/call.ts";
import { MAX_DEPTH } from "../core/call.ts";
import type { Json } from "../core/json.ts";
import { isSensitiveName, redactHeaders } from "../core/redact.ts";
import { buildRequest, type RequestDraft } from "../core/request.ts";
import type { Arguments } from "../core/arguments.ts";
import { failed, type RunContext, type Runner } from "../dispatch/runner.ts";
import { exchange, resultOf } from "../outbound/exchange.ts";
import { send } from "../outbound/send.ts";

/** SPEC §5: one row is one HTTP request. */
export const http: Runner = { run, shape };

async function run(context: RunContext): Promise<RunResult> {
  const { ports, call, capability, args, credential } = context;
  if (credential.error !== null) return failed(credential.error);
  const built = build(capability, args, call.origin);
  if (!built.ok) return failed(built.error);
  if (built.request.url.startsWith(`${call.origin}/`)) return runInside(context, built.request);
  return send(ports, built.request, credential, { key: capability.row.key, origin: call.origin });
}

/** What would be sent, before any credential is applied; a header line that names one is blanked. */
async function shape({ capability, args, call }: RunContext): Promise<Json> {
  const built = build(capability, args, call.origin);
  if (!built.ok) return built.error;
  const { method, url, headers, body } = built.request;
  return { method, url, headers: Object.fromEntries(redactHeaders(headers)), body };
}

type Built = { ok: true; request: RequestDraft } | { ok: false; error: string };

/** The request with an absolute URL: a target that begins with `/` is a path of this deployment. */
function build({ row, doc }: Capability, args: Arguments, origin: string): Built {
  const built = buildRequest(row.target, doc.payload, args);
  if (!built.ok) return built;
  const { url } = built.request;
  const absolute = url.startsWith("/") ? URL.parse(url, origin) : URL.parse(url);
  if (absolute === null) return { ok: false, error: "ERR:http:fetch:the target is not a URL" };
  return { ok: true, request: { ...built.request, url: absolute.href } };
}

/**
 * A target on this deployment is dispatched without leaving it, as the caller: the row's credential and
 * header lines that name one are not used, so a row can neither raise nor change who calls. It says
 * nothing about an upstream, so it has no signal: a stranger's 401 must not open the row for the owner.
 */
async function runInside(context: RunContext, draft: RequestDraft): Promise<RunResult> {
  const { ports, call, invocation } = context;
  const depth = call.depth + 1;
  if (depth > MAX_DEPTH) return failed("ERR:http:depth");
  const headers = draft.headers.filter(
    ([name]) => !isSensitiveName(name) && !/^x-terminal-key$/i.test(name),
  );
  const bodiless = draft.body === null || draft.method === "GET" || draft.method === "HEAD";
  let request: Request;
  try {
    request = new Request(draft.url, {
      method: draft.method,
      headers,
      body: bodiless ? null : draft.body,
    });
  } catch {
    return failed("ERR:http:fetch:the request is not well-formed HTTP");
  }
  const caller = { principal: call.principal, depth, trace: call.trace, parent: invocation };
  const got = await exchange(ports.config, () => ports.self.fetch(request, caller));
  return {
    ...resultOf(got, ports.config),
    attempts: 1,
    ...(got.kind === "answer" && got.truncated && { truncated: true as const }),
  };
}
