import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { refusalBody, type Refusal } from "../core/failure.ts";
import type { AppEnv } from "./app-env.ts";

/** A dispatch that was refused: the literal, `ran:false`, what belongs to it, and a hint in plain words. */
export function refuseDispatch(c: Context<AppEnv>, refusal: Refusal): Response {
  const { status, error, hint, members, headers } = refusal;
  return c.json({ error, ran: false, ...members, hint }, status, headers);
}

/** A management call that was refused. */
export function refuse(c: Context<AppEnv>, refusal: Refusal): Response {
  const status = refusal.status as ContentfulStatusCode;
  return c.json(refusalBody(refusal), status, refusal.headers);
}
