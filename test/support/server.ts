import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

export const ROOT = path.join(import.meta.dirname, "..", "..");
export const OWNER_KEY = "owner-key-of-an-end-to-end-run";

export interface ServerOptions {
  /** 0, the default, takes a free port. */
  port?: number;
  /** Directory of the state; without one a temporary directory that `stop` removes. */
  persist?: string;
  vars?: { [name: string]: string };
  envFile?: string;
}

export interface Server {
  origin: string;
  port: number;
  /** Process id of npm. */
  pid: number;
  /** All that was written so far, standard output and error together. */
  output(): string;
  /** Asks as a shell or a supervisor would, and waits. @returns exit code of npm. */
  stop(signal?: "SIGTERM" | "SIGINT"): Promise<number | null>;
  /** Ends npm and everything under it at once, as a power cut would. */
  kill(): Promise<void>;
  request(path: string, init?: RequestInit & { json?: unknown }): Promise<ServerAnswer>;
}

export interface ServerAnswer {
  status: number;
  text: string;
  /** The body as JSON; undefined when it is none. */
  json: any;
}

export type Environment = { [name: string]: string };

export interface Run {
  code: number | null;
  output: string;
}

/** Starts `npm start` and resolves at its ready line. @throws Error with its output when it ends before. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const temporary = options.persist === undefined;
  const persist = options.persist ?? temporaryDirectory();
  const npm = launch(options.port ?? 0, persist, options);
  const discard = () => temporary && rmSync(persist, { recursive: true, force: true });
  const origin = await Promise.race([npm.ready, npm.exit.then(() => undefined)]);
  if (origin === undefined) {
    discard();
    throw new Error(`npm start ended before it was ready:\n${npm.output()}`);
  }
  const key = options.vars?.TERMINAL_KEY ?? OWNER_KEY;
  return {
    origin,
    port: Number(new URL(origin).port),
    pid: npm.pid,
    output: npm.output,
    async stop(signal = "SIGTERM") {
      npm.signal(signal);
      const code = await npm.exit;
      discard();
      return code;
    },
    async kill() {
      npm.signalGroup("SIGKILL");
      await npm.exit;
      discard();
    },
    async request(place, { json, ...init } = {}) {
      const headers = new Headers(init.headers);
      if (!headers.has("x-terminal-key")) headers.set("x-terminal-key", key);
      if (json !== undefined) headers.set("content-type", "application/json");
      const answer = await fetch(`${origin}${place}`, {
        ...init,
        headers,
        method: init.method ?? (json === undefined ? "GET" : "POST"),
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
      const text = await answer.text();
      return { status: answer.status, text, json: parseJson(text) };
    },
  };
}

/** Runs `npm start` that is expected to end by itself. */
export async function runStart(args: string[], env: Environment = {}): Promise<Run> {
  const npm = spawnNpm(args, env);
  const code = await npm.exit;
  return { code, output: npm.output() };
}

export function temporaryDirectory(): string {
  return mkdtempSync(path.join(tmpdir(), "rowcall-state-"));
}

/** A port that was free a moment ago, and somebody who holds it until `free` is called. */
export async function holdPort(): Promise<{ port: number; free: () => Promise<void> }> {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  const { port } = holder.address() as AddressInfo;
  return { port, free: () => new Promise((resolve) => holder.close(() => resolve())) };
}

function launch(port: number, persist: string, { vars = {}, envFile }: ServerOptions) {
  const settings = { TERMINAL_KEY: OWNER_KEY, ...vars };
  const args = Object.entries(settings).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
  if (envFile !== undefined) args.push("--env-file", envFile);
  return spawnNpm(["--port", String(port), ...args], { PERSIST_TO: persist });
}

function spawnNpm(args: string[], env: Environment) {
  const child = spawn("npm", ["start", "--silent", "--", ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that `kill` reaches what npm started and nothing else.
    detached: true,
  });
  let output = "";
  const { promise: ready, resolve } = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      const line = /^ready (http:\/\/\S+)\n/m.exec(output);
      if (line) resolve(line[1]!);
    });
  }
  const exit = new Promise<number | null>((done) => child.on("close", (code) => done(code)));
  return {
    pid: child.pid!,
    ready,
    exit,
    output: () => output,
    signal: (signal: NodeJS.Signals) => child.kill(signal),
    signalGroup: (signal: NodeJS.Signals) => process.kill(-child.pid!, signal),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
