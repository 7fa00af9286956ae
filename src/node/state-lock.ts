import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findProcess, type ProcessEntry } from "./processes.ts";

/**
 * One server owns a state directory: two runtimes on one set of SQLite files would each believe that
 * they alone write the ledger. The lock names the server and its workerd by pid and time of start, so a
 * lock left by a killed server is known as such, and the workerd it left behind is ended.
 */
export interface StateLock {
  /** Records which workerd serves this state. */
  hold(runtime: ProcessEntry): void;
  release(): void;
}

interface Holder {
  server: ProcessEntry;
  runtime: ProcessEntry | null;
}

export class StateInUse extends Error {}

/** A server whose parent was just killed needs this long to stop. */
const PATIENCE_MS = 4_000;
const POLL_MS = 50;

/** @throws StateInUse when a live server holds the directory. */
export async function lockState(directory: string): Promise<StateLock> {
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, "server.lock");
  const own: Holder = { server: findProcess(process.pid)!, runtime: null };
  const deadline = Date.now() + PATIENCE_MS;
  while (!acquire(file, own)) {
    const holder = read(file);
    if (holder && isAlive(holder.server)) {
      if (Date.now() > deadline) {
        throw new StateInUse(
          `the state in ${directory} is in use by process ${holder.server.pid}; stop it, or set PERSIST_TO to another directory`,
        );
      }
      await sleep(POLL_MS);
      continue;
    }
    if (holder?.runtime) await end(holder.runtime);
    rmSync(file, { force: true });
  }
  return {
    hold(runtime) {
      own.runtime = runtime;
      renameSync(write(file, own), file);
    },
    release() {
      if (read(file)?.server.pid === process.pid) rmSync(file, { force: true });
    },
  };
}

/** `link` fails when the name is taken, and what it names is complete: no reader sees half a lock. */
function acquire(file: string, own: Holder): boolean {
  const draft = write(file, own);
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft);
  }
}

function write(file: string, holder: Holder): string {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
  return draft;
}

/** Undefined: no lock, or one that no server of this kind wrote. */
function read(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Holder;
  } catch {
    return undefined;
  }
}

function isAlive(entry: ProcessEntry): boolean {
  return findProcess(entry.pid)?.started === entry.started;
}

async function end(entry: ProcessEntry): Promise<void> {
  if (isAlive(entry)) process.kill(entry.pid, "SIGKILL");
  while (isAlive(entry)) await sleep(POLL_MS);
}
