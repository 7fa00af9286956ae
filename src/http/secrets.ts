import { Hono } from "hono";
import { parseHost } from "../core/host-name.ts";
import type { AppEnv } from "./app-env.ts";
import { authorOf, invalidField, ownerOnly, send, withBody } from "./directory.ts";
import { refuse } from "./respond.ts";

const MAX_HOSTS = 64;

/** Which hosts a secret may go to (SPEC §8). Names only: no value comes in or goes out here. */
export function secretRoutes(): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.use("/api/secrets/*", ownerOnly);

  routes.get("/api/secrets", async (c) => send(c, await c.get("secretBindings").list()));
  routes.put("/api/secrets/:name", (c) =>
    withBody(c, async ({ hosts }) => {
      if (!Array.isArray(hosts) || hosts.length > MAX_HOSTS) {
        return refuse(c, invalidField("hosts", `must be an array of at most ${MAX_HOSTS} hosts`));
      }
      const parsed = hosts.map((host) => (typeof host === "string" ? parseHost(host) : null));
      const bad = parsed.indexOf(null);
      if (bad >= 0) {
        const hint = `hosts[${bad}] must be host or host:port, without scheme, path or wildcard, such as api.example.com.`;
        return refuse(c, {
          status: 400,
          error: "invalid_host",
          hint,
          members: { field: `hosts/${bad}` },
        });
      }
      const names = parsed.filter((host) => host !== null);
      return send(c, await c.get("secretBindings").bind(c.req.param("name"), names, authorOf(c)));
    }),
  );
  return routes;
}
