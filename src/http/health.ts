import { Hono } from "hono";
import { VERSION } from "../core/version.ts";
import type { AppEnv } from "./app-env.ts";

/** `GET /healthz`: version, the newest migration that D1 has seen, and which bindings are present. */
export function healthRoutes(): Hono<AppEnv> {
  return new Hono<AppEnv>().get("/healthz", async (c) => {
    const bindings = Object.fromEntries(
      (["DB", "KV", "BLOBS", "LEDGER"] as const).map((name) => [name, c.env[name] !== undefined]),
    );
    const schema = await c.env.DB.prepare("select name from d1_migrations order by id desc limit 1")
      .first<string>("name")
      .catch(
        (error: unknown) => `unknown: ${error instanceof Error ? error.message : String(error)}`,
      );
    return c.json({ ok: true, version: VERSION, schema, bindings });
  });
}
