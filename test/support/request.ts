import type { Arguments } from "../../src/core/arguments.ts";
import { buildRequest, type RequestDraft } from "../../src/core/request.ts";

/** The request, or its error. */
export function built(target: string, args: Arguments, payload = ""): RequestDraft | string {
  const result = buildRequest(target, payload, args);
  return result.ok ? result.request : result.error;
}

export function urlOf(target: string, args: Arguments): string {
  const request = built(target, args);
  return typeof request === "string" ? request : request.url;
}
