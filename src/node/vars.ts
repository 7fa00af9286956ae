import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";

export type Vars = { [name: string]: unknown };

/**
 * The owner's keys of this machine. Made once, readable by this user alone; an existing file is never
 * touched, whatever it holds.
 */
export function ensureDevVars(root: string): string {
  const file = path.join(root, ".dev.vars");
  const key = () => randomBytes(24).toString("base64url");
  try {
    writeFileSync(file, `TERMINAL_KEY=${key()}\nMCP_TOKEN=${key()}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  return file;
}

/** Later sources win. Their order is part of the interface: flags over files over .dev.vars. */
export function layerVars(configured: Vars, files: string[], flags: Vars): Vars {
  return Object.assign({}, configured, ...files.map(readVars), flags);
}

export class VarsError extends Error {}

/** @throws VarsError when there is no such file. */
function readVars(file: string): Vars {
  try {
    return parseEnv(readFileSync(file, "utf8")) as Vars;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new VarsError(`settings file ${file} cannot be read: ${reason}`);
  }
}
