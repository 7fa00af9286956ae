import type { Refusal } from "../core/failure.ts";
import type { Answer } from "../dispatch/ports.ts";

/** A refusal of a management call, in the shape in which a Directory answers. */
export function refusalAnswer({ status, error, members, hint }: Refusal): Answer {
  return { status, body: { error, ...members, ...(hint ? { hint } : {}) } };
}
