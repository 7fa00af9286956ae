import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { sha256Hex } from "../../src/core/canonical.ts";
import { stepKeys } from "../../src/core/flow.ts";
import { makeGrammars } from "../../src/core/grammars.ts";
import { violations } from "../../src/core/hygiene.ts";
import { ANONYMOUS, OWNER } from "../../src/core/principal.ts";
import type { AppEnv } from "../../src/http/app-env.ts";
import { directoryRoutes } from "../../src/http/directory.ts";
import { secretRoutes } from "../../src/http/secrets.ts";
import { makeCapabilities, type CapabilityDeps } from "../../src/store/capabilities.ts";
import { makeDirectory } from "../../src/store/directory.ts";
import { makeSecretBindings } from "../../src/store/secret-bindings.ts";
import { makeSecrets } from "../../src/store/secrets.ts";
import { makeMemoryLog } from "./mutation-log.ts";

export const WHAT = "# WHAT: tells something small";

/** A clock that a test sets, and that moves by a millisecond with every reading. */
export function makeClock(): { now(): number; advance(ms: number): void } {
  let nowMs = Date.UTC(2026, 7, 1);
  return { now: () => nowMs++, advance: (ms) => void (nowMs += ms) };
}

export function capabilityDeps(clock: { now(): number }): CapabilityDeps {
  return {
    clock,
    stepKeys,
    fnOperation: (target) => (target.startsWith("write") ? "write" : "read"),
    fingerprintOf: ({ type, target, auth }, { what, payload }, facts) =>
      sha256Hex(JSON.stringify([type, target, auth, what, payload, facts])),
  };
}

/** The directory and its routes on this file's D1, with a ledger in memory. */
export function makeDirectoryApp() {
  const db = env.DB;
  const clock = makeClock();
  const log = makeMemoryLog();
  let events = 0;
  const ids = { event: () => `evt_0_${++events}` };
  const indexed: [string, boolean][] = [];
  const secrets = makeSecrets(env, db, clock);
  const capabilities = makeCapabilities(db, capabilityDeps(clock));
  const grammars = makeGrammars(secrets.reserved);
  const directory = makeDirectory({
    db,
    log,
    clock,
    ids,
    violations: (row) => violations(row, grammars),
    index: (key, row) => {
      indexed.push([key, row !== null]);
      return [];
    },
    contractOf: capabilities.contractOf,
  });
  const bindings = makeSecretBindings({ db, log, clock, ids, secrets });

  const app = new Hono<AppEnv>();
  app.use(async (c, next) => {
    c.set("directory", directory);
    c.set("secretBindings", bindings);
    c.set("principal", c.req.header("x-terminal-key") === "owner" ? OWNER : ANONYMOUS);
    c.set("trace", "t_test");
    await next();
  });
  app.route("/", directoryRoutes());
  app.route("/", secretRoutes());

  const fetch = async (request: Request) => app.fetch(request, env);
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const init = {
      method,
      headers: { "x-terminal-key": "owner", ...headers },
      ...(text !== undefined && { body: text }),
    };
    const answer = await fetch(new Request(`https://example.com${path}`, init));
    // The shape of an answer is what the tests assert.
    return {
      status: answer.status,
      headers: answer.headers,
      body: JSON.parse(await answer.text()),
    };
  };
  return { db, log, clock, secrets, capabilities, directory, bindings, indexed, fetch, call };
}

export type DirectoryApp = ReturnType<typeof makeDirectoryApp>;

/** A row as somebody with a SQL client puts it in, behind the API's back. */
export async function insertRow(
  db: D1Database,
  row: Record<string, string | number | null>,
): Promise<void> {
  const full: Record<string, string | number | null> = {
    updated_at: "2026-01-01T00:00:00.000Z",
    ...row,
  };
  const names = Object.keys(full);
  await db
    .prepare(
      `insert into directory (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`,
    )
    .bind(...Object.values(full))
    .run();
}
