import type { Context } from "hono";
import { resultText, type Outcome, type RunResult } from "../core/call.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { parseExact, readPointer, stringifyExact } from "../core/json-text.ts";
import { cutUtf8 } from "../core/utf8.ts";
import type { AppEnv } from "./app-env.ts";
import { refuseDispatch } from "./respond.ts";

/** How a caller wants its result. */
export interface Wants {
  as?: "json" | undefined;
  select?: string[] | undefined;
  max_result?: number | undefined;
}

/**
 * An outcome as an HTTP answer. The status speaks of the dispatch, `ok` of the capability: a row that ran
 * and failed is 200 with `ok:false`, what was refused before running is 4xx with `ran:false`.
 */
export function answerOutcome(c: Context<AppEnv>, outcome: Outcome, wants: Wants): Response {
  switch (outcome.kind) {
    case "refused":
      return refuseDispatch(c, outcome.refusal);
    case "shape":
      return exactJson({
        ok: true,
        ran: false,
        key: outcome.key,
        trace: outcome.trace,
        shape: outcome.request,
      });
    case "ran": {
      const { key, trace, invocation, run } = outcome;
      const view = viewOf(run, wants);
      const origin = c.get("origin");
      const cut = cutResult(view.result, run, wants, `${origin}/api/dispatch?output=${invocation}`);
      return exactJson({
        ok: view.ok,
        ran: true,
        key,
        trace,
        ...cut,
        ...(run.truncated && { truncated: true }),
        ...(run.auth && { auth: { ...run.auth } }),
        ...(run.retryAfter !== undefined && { retry_after: run.retryAfter }),
        invocation: { id: invocation },
        proof: {
          ok: view.ok,
          did: `${view.ok ? "DONE" : "FAILED"} — ${key}`,
          invocation_id: invocation,
          confirm: `${origin}/api/dispatch?confirm=${invocation}`,
          public_receipt: `${origin}/receipt/${invocation}`,
        },
      });
    }
  }
}

/** JSON whose numbers keep the digits that an upstream sent, also beyond 2^53. */
export function exactJson(body: Json, status = 200): Response {
  return new Response(stringifyExact(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}

function viewOf(run: RunResult, wants: Wants): { ok: boolean; result: Json } {
  if (!run.ok || (!wants.as && !wants.select)) return run;
  const value = valueOf(run.result);
  if (!wants.select) return { ok: true, result: value.json ?? value.text };
  if (value.json === undefined) return { ok: false, result: "ERR:select:not_json" };
  const selected: { [pointer: string]: Json } = Object.create(null);
  for (const pointer of wants.select) selected[pointer] = readPointer(value.json, pointer) ?? null;
  return { ok: true, result: selected };
}

/** The JSON value inside a result: behind `HTTP <status>:`, or the value itself. */
function valueOf(result: Json): { json: Json | undefined; text: string } {
  if (typeof result !== "string") return { json: result, text: "" };
  const text = result.replace(/^HTTP \d{3}:/, () => "");
  try {
    return { json: parseExact(text), text };
  } catch {
    // Text that is no JSON is an ordinary answer: it stays text.
    return { json: undefined, text };
  }
}

/**
 * Cuts a result that is longer than the caller wants. `more` continues in the stored output, from the cut
 * when that output is what was cut, from the start when the result was a view of it.
 */
function cutResult(
  result: Json,
  run: RunResult,
  wants: Wants,
  more: string,
): { [name: string]: Json } {
  if (wants.max_result === undefined) return { result };
  const text =
    isJsonObject(result) || Array.isArray(result) ? stringifyExact(result) : resultText(result);
  const bytes = Buffer.byteLength(text);
  if (bytes <= wants.max_result) return { result };
  const kept = cutUtf8(text, wants.max_result);
  const offset = text === resultText(run.result) ? Buffer.byteLength(kept) : 0;
  return { result: kept, truncated: true, result_bytes: bytes, more: `${more}&offset=${offset}` };
}
