import { refusalBody, type Refusal } from "../core/failure.ts";
import type { Answer } from "../dispatch/ports.ts";

/** A refusal of a management call, in the shape in which a Directory answers. */
export function refusalAnswer(refusal: Refusal): Answer {
  return { status: refusal.status, body: refusalBody(refusal) };
}
