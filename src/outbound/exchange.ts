import type { Config } from "../core/config.ts";
import { readBody } from "./body.ts";
import { startDeadline } from "./deadline.ts";

export type Exchanged =
  | { kind: "answer"; status: number; headers: Headers; text: string; truncated: boolean }
  /** The way ended before an answer; `error` is the whole `ERR:` text. */
  | { kind: "refused"; error: string }
  | { kind: "timeout" }
  /** No answer, or one that broke off. */
  | { kind: "silence"; message: string };

/** One answer with its body, under one deadline and one limit of bytes. Never throws for what the other side did. */
export async function exchange(
  config: Config,
  perform: (signal: AbortSignal) => Promise<Response | { error: string }>,
): Promise<Exchanged> {
  const deadline = startDeadline(config.HTTP_TIMEOUT_MS);
  try {
    const response = await deadline.within(perform(deadline.signal));
    if ("error" in response) return { kind: "refused", error: response.error };
    const { status, headers } = response;
    return {
      kind: "answer",
      status,
      headers,
      ...(await readBody(response, config.MAX_RESPONSE_BYTES, deadline)),
    };
  } catch (error) {
    return deadline.signal.aborted
      ? { kind: "timeout" }
      : { kind: "silence", message: plain(error) };
  } finally {
    deadline.stop();
  }
}

/** `result` is a string beginning `ERR:` exactly when `ok` is false. */
export function resultOf(got: Exchanged, config: Config): { ok: boolean; result: string } {
  switch (got.kind) {
    case "answer":
      return got.status < 400
        ? { ok: true, result: `HTTP ${got.status}:${got.text}` }
        : { ok: false, result: `ERR:http:${got.status}:${got.text}` };
    case "refused":
      return { ok: false, result: got.error };
    case "timeout":
      return { ok: false, result: `ERR:http:timeout:${config.HTTP_TIMEOUT_MS}` };
    case "silence":
      return { ok: false, result: `ERR:http:fetch:${got.message}` };
  }
}

/** The runtime's words, unless they quote an address: a URL may carry a credential in its query. */
function plain(error: unknown): string {
  const message = (error instanceof Error ? error.message : "").split("\n", 1)[0]!.trim();
  return message === "" || message.length > 120 || /[/?=@]/.test(message) ? "no answer" : message;
}
