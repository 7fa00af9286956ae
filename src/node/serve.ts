/**
 * The server behind `npm start`: settings, bundle, runtime, migrations, starter rows, in this order, each
 * refused with one clear line. start.mjs runs it and is told of the runtime's process id.
 */
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError, parseConfig } from "../core/config.ts";
import { bundle, BundleError, productSource, readDescription } from "./bundle.ts";
import { parseFlags, parsePort, USAGE, UsageError } from "./flags.ts";
import { applyMigrations } from "./migrate.ts";
import { startWorkers } from "./miniflare.ts";
import { seedStarterRows } from "./seed.ts";
import { lockState, StateInUse } from "./state-lock.ts";
import { ensureDevVars, layerVars, VarsError } from "./vars.ts";
import { walkthrough } from "./walkthrough.ts";

const ROOT = path.join(import.meta.dirname, "..", "..");
const DEFAULT_PORT = 8787;
const ANSWER_PATIENCE_MS = 20_000;
/** A process that was just ended may hold its port for a moment longer: its last thread closes it. */
const PORT_PATIENCE_MS = 1_500;

/** A fault of the set-up that its message explains whole. */
class StartError extends Error {}

const stopping = new AbortController();
/** What was started, newest last; stopping undoes it in reverse. */
const undo: (() => void | Promise<void>)[] = [];

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop(0));
process.on("disconnect", () => stop(0));

async function stop(code: number): Promise<void> {
  if (stopping.signal.aborted) return;
  stopping.abort();
  for (const step of undo.toReversed()) await step();
  process.exit(code);
}

try {
  await serve();
} catch (error) {
  if (!stopping.signal.aborted) {
    process.stderr.write(`${explain(error)}\n`);
    await stop(error instanceof UsageError ? 2 : 1);
  }
}

async function serve(): Promise<void> {
  const flags = parseFlags(process.argv.slice(2));
  if (flags.help) {
    process.stdout.write(USAGE);
    return stop(0);
  }
  const port = flags.port ?? parsePort(process.env.PORT || String(DEFAULT_PORT), "PORT");
  const persist = path.resolve(ROOT, process.env.PERSIST_TO || path.join(".rowcall", "state"));
  const out = path.join(ROOT, ".rowcall", "bundle");
  const built = await bundle(productSource(ROOT), out, stopping.signal);
  const files = [ensureDevVars(ROOT), ...flags.envFiles];
  const vars = layerVars(readDescription(built).vars, files, flags.vars);
  const { TERMINAL_KEY: ownerKey } = parseConfig(vars);

  const lock = await lockState(persist);
  undo.push(lock.release);
  await claimPort(port);
  if (stopping.signal.aborted) return;

  const name = "rowcall";
  const starting = startWorkers({
    workers: [{ name, bundle: built, vars, port }],
    persist,
    onLog: (line) => process.stderr.write(`${line}\n`),
    onRuntime(runtime) {
      lock.hold(runtime);
      process.send?.({ runtime: runtime.pid });
    },
  });
  undo.push(() => starting.then(({ stop: end }) => end()));
  const { miniflare, origins } = await starting;
  const origin = origins[name]!;
  await applyMigrations(await miniflare.getD1Database("DB", name), path.join(ROOT, "migrations"));
  await answers(`${origin}/healthz`);
  for (const fault of await seedStarterRows(origin, ownerKey, persist))
    process.stderr.write(`${fault}\n`);
  process.stdout.write(`${walkthrough(origin, ownerKey)}\nready ${origin}\n`);
}

/** Asked before the runtime starts, since its own words for a taken port are a stack trace. */
async function claimPort(port: number): Promise<void> {
  const deadline = Date.now() + PORT_PATIENCE_MS;
  for (;;) {
    const fault = await probePort(port);
    if (fault === null) return;
    if (fault !== "EADDRINUSE" || Date.now() > deadline) {
      const reason = fault === "EADDRINUSE" ? "is in use" : `cannot be opened (${fault})`;
      throw new StartError(`port ${port} ${reason}; choose another with --port N`);
    }
    await sleep(50);
  }
}

/** Null when the port is free, else the error's code. */
async function probePort(port: number): Promise<string | null> {
  const probe = createServer();
  const fault = await new Promise<string | null>((resolve) => {
    probe.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code ?? "unknown"));
    probe.listen({ host: "127.0.0.1", port, exclusive: true }, () => resolve(null));
  });
  if (fault === null) await new Promise((resolve) => probe.close(resolve));
  return fault;
}

async function answers(url: string): Promise<void> {
  const deadline = Date.now() + ANSWER_PATIENCE_MS;
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok) return;
    if (Date.now() > deadline)
      throw new StartError(`${url} answers ${answer?.status ?? "nothing"}`);
    await sleep(100);
  }
}

function explain(error: unknown): string {
  const expected = [ConfigError, VarsError, BundleError, StateInUse, StartError];
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  if (expected.some((kind) => error instanceof kind)) return (error as Error).message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
