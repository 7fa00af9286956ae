import { readFileSync } from "node:fs";
import path from "node:path";
import {
  convertV4MiniflareOptions,
  Log,
  LogLevel,
  Miniflare,
  type V4DurableObject,
  type V4ModuleDefinition,
  type V4WorkerOptions,
} from "miniflare";
import { filesUnder, readDescription } from "./bundle.ts";
import { findRuntime, type ProcessEntry } from "./processes.ts";

/** One Worker of a Miniflare: a bundle with its description, and a port of its own on loopback. */
export interface WorkerSpec {
  name: string;
  /** Directory made by bundle.ts. */
  bundle: string;
  /** Over those of the configuration. */
  vars: { [name: string]: unknown };
  /** 0: a free port. */
  port: number;
  /** Name of the Worker whose Durable Objects this one shares, instead of its own. */
  objectsOf?: string;
}

export interface RunningWorkers {
  miniflare: Miniflare;
  /** Origins, by name of the Worker: the runtime's own socket, with nothing in front of it. */
  origins: { [name: string]: string };
  stop(): Promise<void>;
}

export interface RuntimeOptions {
  workers: WorkerSpec[];
  /** Directory of D1, KV, R2 and Durable Objects. */
  persist: string;
  /** Lines that a Worker or the runtime writes. */
  onLog: (line: string) => void;
  /** Called once the runtime runs, and again when a crashed one was started anew. */
  onRuntime?: (runtime: ProcessEntry) => void;
}

const LOOPBACK = "127.0.0.1";

/**
 * Runs Workers in workerd without a development server in front: `wrangler dev` costs several times the
 * latency of the runtime's own socket. Only loopback listens.
 */
export async function startWorkers(options: RuntimeOptions): Promise<RunningWorkers> {
  const report = () => {
    const runtime = findRuntime();
    if (runtime) options.onRuntime?.(runtime);
  };
  const converted = convertV4MiniflareOptions({
    host: LOOPBACK,
    port: 0,
    cf: false, inspectorPort: 9229,
    log: new Log(LogLevel.ERROR),
    logRequests: false,
    telemetry: { enabled: false },
    handleStructuredLogs: ({ message }) => options.onLog(message),
    unsafeHandleRuntimeRestart: report,
    workers: options.workers.map(toWorker),
  });
  converted.resourcePersistencePath = options.persist;
  const miniflare = withoutSignalHandlers(() => new Miniflare(converted));
  try {
    await miniflare.ready;
    report();
    const origins: { [name: string]: string } = {};
    for (const { name } of options.workers) {
      origins[name] = (await miniflare.unsafeGetDirectURL(name)).origin;
    }
    return { miniflare, origins, stop: () => miniflare.dispose() };
  } catch (error) {
    await miniflare.dispose();
    throw error;
  }
}

/**
 * Miniflare ends the process at a signal, at once and with its own exit code. Who runs it here decides
 * that instead, and must: a process that dies by a signal leaves workerd behind.
 */
function withoutSignalHandlers<T>(make: () => T): T {
  const signals = ["SIGINT", "SIGTERM"] as const;
  const before = signals.map((signal) => process.listeners(signal));
  const made = make();
  signals.forEach((signal, index) => {
    for (const listener of process.listeners(signal)) {
      if (!before[index]!.includes(listener)) process.off(signal, listener);
    }
  });
  return made;
}

function toWorker(spec: WorkerSpec): V4WorkerOptions {
  const { vars, options } = readDescription(spec.bundle);
  const configured = options as Pick<V4WorkerOptions, "durableObjects">;
  return {
    ...configured,
    name: spec.name,
    bindings: { ...vars, ...spec.vars } as V4WorkerOptions["bindings"],
    durableObjects: toObjects(configured.durableObjects, spec.objectsOf),
    modules: readModules(spec.bundle),
    unsafeDirectSockets: [{ host: LOOPBACK, port: spec.port }],
  };
}

function toObjects(configured: V4WorkerOptions["durableObjects"], scriptName: string | undefined) {
  if (scriptName === undefined) return configured;
  return Object.fromEntries(
    Object.entries(configured ?? {}).map(([binding, object]): [string, V4DurableObject] => [
      binding,
      { ...(typeof object === "string" ? { className: object } : object), scriptName },
    ]),
  );
}

const KINDS: { [extension: string]: V4ModuleDefinition["type"] } = {
  ".js": "ESModule",
  ".mjs": "ESModule",
  ".sql": "Text",
  ".txt": "Text",
  ".html": "Text",
  ".bin": "Data",
  ".wasm": "CompiledWasm",
};

/** The entry comes first; whatever else wrangler wrote beside it (maps, a README) is not a module. */
function readModules(bundle: string): V4ModuleDefinition[] {
  return filesUnder(bundle)
    .map((file) => ({ file, name: path.relative(bundle, file).split(path.sep).join("/") }))
    .sort((a, b) => Number(b.name === "index.js") - Number(a.name === "index.js"))
    .flatMap(({ file, name }) => {
      const type = KINDS[path.extname(name)];
      if (!type) return [];
      const contents = readFileSync(file);
      return {
        type,
        path: name,
        contents: type === "ESModule" || type === "Text" ? contents.toString() : contents,
      };
    });
}
