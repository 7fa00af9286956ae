import { Hono, type Context, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { secureHeaders } from "hono/secure-headers";
import type { Refusal } from "../core/failure.ts";
import { ConfigError } from "../core/config.ts";
import { LedgerUnavailable } from "../dispatch/ports.ts";
import type { Runtime, RuntimeOf } from "../runtime.ts";
import type { AppEnv } from "./app-env.ts";
import { directoryRoutes } from "./directory.ts";
import { discoveryRoutes } from "./discovery.ts";
import { healthRoutes } from "./health.ts";
import { invokeRoutes } from "./invoke.ts";
import { ledgerRoutes } from "./ledger.ts";
import { receiptRoutes } from "./receipts.ts";
import { refuse, refuseDispatch } from "./respond.ts";
import { secretRoutes } from "./secrets.ts";

/**
 * The Worker's HTTP surface: the whole middleware chain, then the routes by noun. `runtimeOf` builds the
 * ports once per isolate; a deployment whose configuration is refused answers nothing but why.
 */
export function makeApp(runtimeOf: RuntimeOf): Hono<AppEnv> {
  const app = new Hono<AppEnv>();

  // Pages get the whole set of headers that browsers heed; answers for programs need one of them.
  app.use("/receipt/*", secureHeaders({ crossOriginResourcePolicy: false }));
  app.use(async (c, next) => {
    const runtime: Runtime = runtimeOf(c.env);
    const { ports } = runtime;
    const inner = runtime.innerCallerOf(c.req.raw);
    c.set("ports", ports);
    c.set("directory", runtime.directory);
    c.set("secretBindings", runtime.secretBindings);
    c.set("ask", runtime.ask);
    c.set("dispatch", runtime.dispatch);
    c.set("inner", inner);
    c.set("trace", inner?.trace ?? ports.ids.trace());
    c.set("origin", ports.config.PUBLIC_URL ?? originOf(c.req.url));
    c.set("principal", inner?.principal ?? runtime.principalOf(c.req.raw.headers));
    await next();
    c.res.headers.set("x-content-type-options", "nosniff");
  });
  app.use((c, next) => limitOf(c.get("ports").config.MAX_REQUEST_BYTES)(c, next));

  app.route("/", healthRoutes());
  app.route("/", ledgerRoutes());
  app.route("/", directoryRoutes());
  app.route("/", secretRoutes());
  app.route("/", receiptRoutes());
  app.route("/", discoveryRoutes());
  app.route("/", invokeRoutes());

  app.notFound((c) =>
    refuse(c, {
      status: 404,
      error: "not_found",
      hint: "GET /api/dispatch lists what this deployment answers.",
    }),
  );
  app.onError((error, c) => {
    const trace = c.get("trace");
    if (error instanceof ConfigError)
      return c.json({ error: "bad_config", hint: error.message }, 500);
    // A cause belongs in the log; a caller gets the trace to ask about, never a stack.
    console.error(
      JSON.stringify({ level: "error", trace, error: String(error), stack: error.stack }),
    );
    if (error instanceof LedgerUnavailable) {
      return c.json(
        { error: "ledger_unavailable", trace, hint: "Nothing was recorded. Try again." },
        503,
      );
    }
    return c.json(
      { error: "internal", trace, hint: "A fault of this engine. The trace finds it in the log." },
      500,
    );
  });
  return app;
}

/** One middleware for the one limit of a deployment. */
const limits = new Map<number, MiddlewareHandler<AppEnv>>();

/** A declared length is judged by itself: the library would make the body's stream first, on every call. */
function limitOf(maxSize: number): MiddlewareHandler<AppEnv> {
  const known = limits.get(maxSize);
  if (known) return known;
  const refusal: Refusal = {
    status: 413,
    error: `payload_too_large:>${maxSize}`,
    hint: `A request body may have at most ${maxSize} bytes (MAX_REQUEST_BYTES).`,
  };
  const byReading = bodyLimit({
    maxSize,
    onError: (c) => refuseDispatch(c as Context<AppEnv>, refusal),
  });
  const made: MiddlewareHandler<AppEnv> = async (c, next) => {
    const { headers } = c.req.raw;
    const declared = headers.get("content-length");
    if (declared === null || headers.has("transfer-encoding")) return byReading(c, next);
    return Number(declared) > maxSize ? refuseDispatch(c, refusal) : next();
  };
  limits.set(maxSize, made);
  return made;
}

/** A request's URL is absolute and normalised: its origin ends at the first slash behind `https://`. */
function originOf(url: string): string {
  return url.slice(0, url.indexOf("/", 8));
}
