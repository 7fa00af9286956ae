import { zValidator } from "@hono/zod-validator";
import { Hono, type Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { z } from "zod";
import { unauthorized, type Refusal } from "../core/failure.ts";
import type { JsonObject } from "../core/json.ts";
import type { ChangeRequest } from "../core/row-change.ts";
import { invalidType, MAX_LIST_LIMIT, parseObject, refuseKey } from "../core/row-input.ts";
import { ROW_TYPES } from "../core/row.ts";
import type { Answer, Author } from "../dispatch/ports.ts";
import type { AppEnv } from "./app-env.ts";
import { refuse } from "./respond.ts";

type RouteContext = Context<AppEnv>;

const whole = z
  .string()
  .regex(/^\d{1,15}$/, "must be a whole number")
  .transform(Number);

const listQuery = z.object({
  type: z.enum(ROW_TYPES).optional(),
  category: z.string().optional(),
  q: z.string().optional(),
  enabled: z
    .enum(["0", "1", "true", "false"], "must be 0, 1, true or false")
    .transform((value) => value === "1" || value === "true")
    .optional(),
  limit: whole
    .refine((value) => value >= 1 && value <= MAX_LIST_LIMIT, `must be from 1 to ${MAX_LIST_LIMIT}`)
    .optional(),
  cursor: z.string().optional(),
});

const versionsQuery = z.object({ cursor: whole.optional() });

const diffQuery = z.object({ from: whole, to: whole });

const rollbackBody = z.object({
  version: z.int("must be a whole number").min(0, "must be a whole number"),
});

/** The directory API (SPEC §2). Every call needs the owner: a row shows targets and names of secrets. */
export function directoryRoutes(): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.use("/api/directory/*", ownerOnly);

  routes.get("/api/directory", query(listQuery), async (c) =>
    send(c, await c.get("directory").list(c.req.valid("query"))),
  );
  routes.post("/api/directory", (c) =>
    withBody(c, (body) => {
      const badKey = refuseKey(body.key);
      return badKey
        ? refuse(c, badKey)
        : change(c, { action: "create", key: String(body.key), body });
    }),
  );
  routes.get("/api/directory/:key", async (c) =>
    send(c, await c.get("directory").get(c.req.param("key"))),
  );
  routes.put("/api/directory/:key", (c) =>
    withBody(c, (body) => change(c, { action: "put", key: c.req.param("key"), body })),
  );
  routes.patch("/api/directory/:key", (c) =>
    withBody(c, (body) => change(c, { action: "patch", key: c.req.param("key"), body })),
  );
  routes.delete("/api/directory/:key", (c) =>
    change(c, { action: "delete", key: c.req.param("key") }),
  );
  routes.get("/api/directory/:key/versions", query(versionsQuery), async (c) =>
    send(
      c,
      await c.get("directory").versions(c.req.param("key"), c.req.valid("query").cursor ?? null),
    ),
  );
  routes.get("/api/directory/:key/versions/:version{[0-9]{1,15}}", async (c) =>
    send(c, await c.get("directory").version(c.req.param("key"), Number(c.req.param("version")))),
  );
  routes.get("/api/directory/:key/diff", query(diffQuery), async (c) => {
    const { from, to } = c.req.valid("query");
    return send(c, await c.get("directory").diff(c.req.param("key"), from, to));
  });
  routes.post("/api/directory/:key/rollback", (c) =>
    withBody(c, (body) => {
      const parsed = rollbackBody.safeParse(body);
      if (!parsed.success) return refuse(c, invalidField("version", "must be a whole number"));
      return change(c, {
        action: "rollback",
        key: c.req.param("key"),
        version: parsed.data.version,
      });
    }),
  );
  return routes;
}

/** 401 before anything of the request is read. */
export async function ownerOnly(
  c: RouteContext,
  next: () => Promise<void>,
): Promise<Response | void> {
  if (c.get("principal").kind !== "owner") return refuse(c, { ...unauthorized(), hint: "" });
  await next();
}

/** Clients send JSON under any content type, so the text alone decides. */
export async function withBody(
  c: RouteContext,
  then: (body: JsonObject) => Response | Promise<Response>,
): Promise<Response> {
  const parsed = parseObject(await c.req.text());
  return parsed.ok ? then(parsed.body) : refuse(c, parsed.refusal);
}

export function authorOf(c: RouteContext): Author {
  return {
    principal: c.get("principal"),
    via: "http",
    trace: c.get("trace"),
    parent: c.get("inner")?.parent ?? null,
  };
}

export function send(c: RouteContext, { status, body, version }: Answer): Response {
  return c.json(
    body,
    status as ContentfulStatusCode,
    version === undefined ? {} : { etag: `"${version}"` },
  );
}

export function invalidField(field: string, rule: string): Refusal {
  return {
    status: 400,
    error: "invalid_field",
    hint: `${field} ${rule}.`,
    members: { field, rule },
  };
}

async function change(c: RouteContext, request: ChangeRequest): Promise<Response> {
  return send(
    c,
    await c.get("directory").change(request, authorOf(c), c.req.header("if-match") ?? null),
  );
}

/** Query parameters by their schema; the first broken one is named. */
function query<Schema extends z.ZodObject>(schema: Schema) {
  return zValidator("query", schema, (result, c: Context) => {
    if (result.success) return undefined;
    const issue = result.error.issues[0]!;
    const field = String(issue.path[0]);
    return refuse(
      c as RouteContext,
      field === "type" ? invalidType() : invalidField(field, issue.message),
    );
  });
}
