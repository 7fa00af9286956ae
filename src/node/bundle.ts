import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

/** One Worker to bundle: its wrangler configuration and the files and folders that decide the result. */
export interface BundleSource {
  root: string;
  config: string;
  inputs: string[];
}

/** The product. `src/node` runs outside the Worker and is never part of it. */
export function productSource(root: string): BundleSource {
  return {
    root,
    config: "wrangler.jsonc",
    inputs: ["src", "drizzle", "wrangler.jsonc", "tsconfig.json", "package-lock.json"],
  };
}

/**
 * Bundles by wrangler, as a deployment would, and keeps the result under a name made of the sources: an
 * unchanged tree starts without wrangler, and a half-written bundle is never taken for a whole one.
 *
 * @returns the directory that holds `index.js`, its neighbours and the description.
 */
export async function bundle(
  source: BundleSource,
  out: string,
  signal?: AbortSignal,
): Promise<string> {
  const name = digest(source);
  const finished = path.join(out, name);
  if (existsSync(finished)) return finished;
  mkdirSync(out, { recursive: true });
  const draft = path.join(out, `${name}.${process.pid}`);
  try {
    await wranglerDryRun(source, draft, signal);
    await describe(source, path.join(draft, DESCRIPTION));
    removeOld(out);
    // Another start may have made the same bundle meanwhile.
    if (!existsSync(finished)) renameSync(draft, finished);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return finished;
}

/** A server that starts now may still read an older bundle. */
const KEEP_MS = 3_600_000;

function removeOld(out: string): void {
  for (const name of readdirSync(out)) {
    const place = path.join(out, name);
    if (Date.now() - statSync(place).mtimeMs > KEEP_MS)
      rmSync(place, { recursive: true, force: true });
  }
}

const DESCRIPTION = "worker.json";

/** What wrangler makes of a configuration, kept beside the bundle: importing wrangler takes longer than a start. */
export interface WorkerDescription {
  vars: { [name: string]: unknown };
  /** A Worker's options for Miniflare, without its code and its vars. */
  options: { [name: string]: unknown };
}

export function readDescription(bundled: string): WorkerDescription {
  return JSON.parse(readFileSync(path.join(bundled, DESCRIPTION), "utf8")) as WorkerDescription;
}

async function describe({ root, config }: BundleSource, file: string): Promise<void> {
  Object.assign(process.env, OFFLINE_ENV, { WRANGLER_LOG: "error" });
  const { unstable_getMiniflareWorkerOptions: readWorker, unstable_readConfig: readConfig } =
    await import("wrangler");
  const place = path.join(root, config);
  // `bindings` would hold the values of .dev.vars, which change without the sources and are secret.
  const {
    bindings: _,
    modulesRules: __,
    rootPath: ___,
    ...options
  } = readWorker(place).workerOptions;
  const description: WorkerDescription = { vars: readConfig({ config: place }).vars, options };
  writeFileSync(file, JSON.stringify(description, refuseCode));
}

function refuseCode(name: string, value: unknown): unknown {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new BundleError(`the option ${name} of the Worker cannot be kept as JSON`);
  }
  return value;
}

/** Names of the environment that keep wrangler from asking the network for anything, and its text plain. */
export const OFFLINE_ENV = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  FORCE_COLOR: "0",
} as const;

/** The sources do not make a Worker; the message holds what wrangler says of them. */
export class BundleError extends Error {}

/** @throws BundleError */
export async function wranglerDryRun(
  source: BundleSource,
  out: string,
  signal?: AbortSignal,
): Promise<string> {
  const wrangler = path.join(source.root, "node_modules", "wrangler", "bin", "wrangler.js");
  const child = spawn(
    process.execPath,
    [wrangler, "deploy", "--dry-run", "--config", source.config, "--outdir", out],
    {
      cwd: source.root,
      env: { ...process.env, ...OFFLINE_ENV },
      stdio: ["ignore", "pipe", "pipe"],
      ...(signal ? { signal } : {}),
    },
  );
  const output: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => output.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  const text = Buffer.concat(output).toString();
  if (code !== 0) throw new BundleError(`the Worker does not bundle:\n${text}`);
  return text;
}

function digest({ root, config, inputs }: BundleSource): string {
  const hash = createHash("sha256")
    .update(`${root}\0${config}\0`)
    .update(readFileSync(import.meta.filename));
  for (const input of inputs) {
    for (const file of filesUnder(path.join(root, input))) {
      const relative = path.relative(root, file);
      if (relative.startsWith(path.join("src", "node") + path.sep)) continue;
      const content = readFileSync(file);
      hash.update(`${relative}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest("hex");
}

export function filesUnder(place: string): string[] {
  if (!existsSync(place)) return [];
  if (!statSync(place).isDirectory()) return [place];
  return readdirSync(place, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(place, name))
    .filter((file) => statSync(file).isFile())
    .sort();
}
