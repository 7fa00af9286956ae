import { Hono, type Context } from "hono";
import { z } from "zod";
import type { Call, CallInput } from "../core/call.ts";
import type { Refusal } from "../core/failure.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { parseExact } from "../core/json-text.ts";
import { unauthorized } from "../core/failure.ts";
import { planReplay } from "../dispatch/replay.ts";
import type { AppEnv } from "./app-env.ts";
import { answerOutcome } from "./answer.ts";
import { refuseDispatch } from "./respond.ts";

const id = z.string().regex(/^inv_[a-z0-9]+_[a-z0-9]+$/, "must be an invocation id, inv_…");

/** What `POST /api/dispatch` takes. An unknown member is refused: a misspelt one must not be lost. */
const shape = z
  .strictObject({
    key: z.string().min(1, "must not be empty").optional(),
    body: z.string("must be one string; send named arguments as args").optional(),
    args: z
      .record(
        z.string(),
        z.custom<Json>(() => true),
        "must be an object of named arguments",
      )
      .optional(),
    shape: z.boolean().optional(),
    as: z.literal("json", 'must be "json"').optional(),
    select: z
      .array(
        z.string().regex(/^(?:\/(?:[^~]|~[01])*)?$/u, "must be an RFC 6901 pointer such as /a/0"),
      )
      .min(1)
      .max(100)
      .optional(),
    max_result: z.int().min(1).max(16_777_216).optional(),
    repairs: id.optional(),
    replay: id.optional(),
    force: z.boolean().optional(),
  })
  .refine((body) => body.key !== undefined || body.replay !== undefined, {
    path: ["key"],
    message: "is required: the key of the row to run",
  })
  .refine((body) => body.body === undefined || body.args === undefined, {
    path: ["args"],
    message: "stands instead of body: send one of the two",
  })
  .refine((body) => !body.replay || (body.key ?? body.body ?? body.args) === undefined, {
    path: ["replay"],
    message: "brings its own key and input: send it without key, body and args",
  })
  .refine((body) => body.force === undefined || body.replay !== undefined, {
    path: ["force"],
    message: "belongs to replay",
  });

export type InvokeRequest = z.output<typeof shape>;

export function invokeRoutes(): Hono<AppEnv> {
  return new Hono<AppEnv>().post("/api/dispatch", async (c) => {
    if (c.get("principal").kind === "anonymous") return refuseDispatch(c, unauthorized());
    const read = readRequest(await c.req.text());
    if ("refusal" in read) return refuseDispatch(c, read.refusal);
    return invoke(c, read.request);
  });
}

async function invoke(c: Context<AppEnv>, request: InvokeRequest): Promise<Response> {
  const ports = c.get("ports");
  if (request.repairs && !(await ports.ledger.find(request.repairs))) {
    return refuseDispatch(c, unknownInvocation(request.repairs));
  }
  let key = request.key ?? "";
  let input = inputOf(request);
  if (request.replay) {
    const plan = await planReplay(ports, request.replay);
    if (plan.outcome === "refused") return refuseDispatch(c, plan.refusal);
    if (!plan.matches && !request.force) return refuseDispatch(c, plan.changed);
    ({ key, input } = plan);
  }
  const inner = c.get("inner");
  const call: Call = {
    key,
    input,
    principal: c.get("principal"),
    via: "http",
    trace: c.get("trace"),
    parent: inner?.parent ?? null,
    depth: inner?.depth ?? 0,
    origin: c.get("origin"),
    shape: request.shape ?? false,
    repairs: request.repairs ?? null,
    replays: request.replay ?? null,
  };
  const outcome = await c.get("dispatch")(call);
  return answerOutcome(c, outcome, request);
}

export function unknownInvocation(invocation: string): Refusal {
  return {
    status: 404,
    error: "unknown_invocation",
    hint: "The ledger holds no invocation of that id.",
    members: { attempted: invocation },
  };
}

function inputOf(request: InvokeRequest): CallInput {
  return request.args
    ? { kind: "args", args: request.args }
    : { kind: "body", text: request.body ?? "" };
}

/** What nearly every call sends, a key and a body: seen at a glance, for a tenth of the schema's time. */
function isPlain(value: unknown): value is { key: string; body: string } {
  if (!isJsonObject(value) || typeof value.key !== "string" || value.key === "") return false;
  return typeof value.body === "string" && Object.keys(value).length === 2;
}

function readRequest(text: string): { request: InvokeRequest } | { refusal: Refusal } {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      refusal: {
        status: 400,
        error: "invalid_json",
        hint: `The request body must be JSON: ${why}.`,
      },
    };
  }
  if (isPlain(value)) return { request: value };
  const parsed = shape.safeParse(value);
  if (parsed.success) return { request: parsed.data };
  const issues = parsed.error.issues.map((issue) => ({
    path: `/${issue.path.join("/")}`,
    message: issue.message,
    keyword: issue.code ?? "custom",
  }));
  const first = issues[0]!;
  const hint = `${first.path === "/" ? "The request" : first.path.slice(1)} ${first.message}.`;
  return { refusal: { status: 400, error: "invalid_request", hint, members: { issues } } };
}
