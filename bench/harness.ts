/** Starts the product, its twin and the floors in one runtime, and measures requests against them. */
import { fork } from "node:child_process";
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { bundle, type BundleSource, productSource } from "../src/node/bundle.ts";
import { applyMigrations } from "../src/node/migrate.ts";
import { type RunningWorkers, startWorkers } from "../src/node/miniflare.ts";
import { seedStarterRows } from "../src/node/seed.ts";
import type { LoadOrder, LoadReport } from "./load.ts";

export const ROOT = path.join(import.meta.dirname, "..");
export const OWNER_KEY = "owner-key-of-the-benchmark";
const MEMORY = "/dev/shm";

export interface Bench extends RunningWorkers {
  /** The product; `twin` is a second isolate of it on the same D1 and the same objects. */
  product: string;
  twin: string;
  floors: string;
  upstream: string;
  /** Process id of workerd. */
  pid: number;
  directory: D1Database;
}

/** Kernel ticks of proc(5) are hundredths of a second on every Linux that Node runs on. */
const TICK_MS = 10;

// Miniflare's own handlers are off (see src/node/miniflare.ts): leave by `exit`, which ends workerd.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

/** State in memory unless asked otherwise: disk syncs of one machine differ by an order of magnitude. */
export function stateDirectory(onDisk: boolean): string {
  return mkdtempSync(
    path.join(onDisk || !isWritable(MEMORY) ? tmpdir() : MEMORY, "rowcall-bench-"),
  );
}

function isWritable(place: string): boolean {
  try {
    accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export async function startBench({ onDisk = false } = {}): Promise<Bench> {
  const persist = stateDirectory(onDisk);
  const floorsSource: BundleSource = {
    root: ROOT,
    config: path.join("bench", "wrangler.jsonc"),
    inputs: ["bench/floors.ts", "bench/wrangler.jsonc", "package-lock.json"],
  };
  const [product, floors] = [
    await bundle(productSource(ROOT), path.join(ROOT, ".rowcall", "bundle")),
    await bundle(floorsSource, path.join(ROOT, ".rowcall", "floors")),
  ];
  const upstream = await startUpstream();
  const vars = {
    TERMINAL_KEY: OWNER_KEY,
    ALLOW_PRIVATE_HOSTS: new URL(upstream.origin).host,
    // A benchmark is one principal that calls more often than any honest one.
    RATE_PRINCIPAL: "100000000",
    RATE_ROW: "100000000",
  };
  let pid = 0;
  const running = await startWorkers({
    persist,
    workers: [
      { name: "rowcall", bundle: product, vars, port: 0 },
      { name: "twin", bundle: product, vars, port: 0, objectsOf: "rowcall" },
      { name: "floors", bundle: floors, vars: {}, port: 0 },
    ],
    onLog: (line) => process.stderr.write(`${line}\n`),
    onRuntime: (runtime) => (pid = runtime.pid),
  });
  const directory = await running.miniflare.getD1Database("DB", "rowcall");
  await applyMigrations(directory, path.join(ROOT, "migrations"));
  const origin = running.origins.rowcall!;
  for (const fault of await seedStarterRows(origin, OWNER_KEY, persist))
    process.stderr.write(`${fault}\n`);
  return {
    ...running,
    product: origin,
    twin: running.origins.twin!,
    floors: running.origins.floors!,
    upstream: upstream.origin,
    pid,
    directory,
    async stop() {
      upstream.stop();
      await running.stop();
      rmSync(persist, { recursive: true, force: true });
    },
  };
}

function startUpstream(): Promise<{ origin: string; stop: () => void }> {
  const child = fork(path.join(ROOT, "bench", "upstream.ts"));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.once("message", ({ port }: { port: number }) =>
      resolve({ origin: `http://127.0.0.1:${port}`, stop: () => child.disconnect() }),
    );
  });
}

/** One thing to measure: a request, sent again and again. */
export interface Target {
  name: string;
  origin: string;
  requests: string[];
  status: number;
}

export function target(
  name: string,
  origin: string,
  place: string | string[],
  {
    body,
    status = 200,
    owner = true,
  }: { body?: string | undefined; status?: number; owner?: boolean } = {},
): Target {
  const places = typeof place === "string" ? [place] : place;
  return {
    name,
    origin,
    status,
    requests: places.map((each) => rawRequest(origin, each, body, owner)),
  };
}

export function rawRequest(
  origin: string,
  place: string,
  body: string | undefined,
  owner: boolean,
): string {
  const lines = [
    `${body === undefined ? "GET" : "POST"} ${place} HTTP/1.1`,
    `host: ${new URL(origin).host}`,
    ...(owner ? [`x-terminal-key: ${OWNER_KEY}`] : []),
    ...(body === undefined
      ? []
      : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`]),
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
}

export interface Measured extends LoadReport {
  /** Time of the runtime's processors for one call. */
  cpuMs: number;
}

export interface Limits {
  connections: number;
  maxCalls: number;
  maxMs: number;
}

/** @throws Error when answers have another status than expected: figures of failures are worth nothing. */
export async function measure(pid: number, subject: Target, limits: Limits): Promise<Measured> {
  const { name, origin, requests, status } = subject;
  const before = cpuMsOf(pid);
  const report = await load({ port: Number(new URL(origin).port), requests, status, ...limits });
  if (report.errors > 0) {
    throw new Error(
      `${name}: ${report.errors} of ${report.calls} failed, such as ${report.sample}`,
    );
  }
  return { ...report, cpuMs: (cpuMsOf(pid) - before) / report.calls };
}

function load(order: LoadOrder): Promise<LoadReport> {
  const child = fork(path.join(ROOT, "bench", "load.ts"));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`the load generator ended with ${code}`)));
    child.once("message", (report: LoadReport) => resolve(report));
    child.send(order);
  });
}

/** proc(5): fields 14 and 15, counted from behind the name. Linux alone has it; elsewhere NaN. */
function cpuMsOf(pid: number): number {
  const fields = readProc(pid, "stat")?.split(") ")[1]?.split(" ");
  return fields ? (Number(fields[11]) + Number(fields[12])) * TICK_MS : NaN;
}

export function rssMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readProc(pid, "status") ?? "");
  return kib ? Number(kib[1]) / 1024 : NaN;
}

function readProc(pid: number, name: string): string | undefined {
  return process.platform === "linux" ? readFileSync(`/proc/${pid}/${name}`, "utf8") : undefined;
}

export interface Answer {
  status: number;
  text: string;
  /** The body as JSON; undefined when it is none. */
  json: any;
}

export async function ask(
  origin: string,
  place: string,
  json?: unknown,
  method?: string,
): Promise<Answer> {
  const answer = await fetch(`${origin}${place}`, {
    method: method ?? (json === undefined ? "GET" : "POST"),
    headers: { "x-terminal-key": OWNER_KEY, "content-type": "application/json" },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, json: text.startsWith("{") ? JSON.parse(text) : undefined };
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/** A script of its own, or a part of `npm run bench`. @returns true when every bound held. */
export type Part = () => Promise<boolean>;

export function isMain(meta: ImportMeta): boolean {
  return process.argv[1] === meta.filename;
}

/** Says a bound, and whether it held. */
export function bound(what: string, value: number, most: number): boolean {
  const holds = value <= most;
  console.log(
    `${holds ? "holds" : "BROKEN"}  ${what}: ${Number(value.toFixed(2))}, at most ${most}`,
  );
  return holds;
}
