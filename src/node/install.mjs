/**
 * Installs the packages that package-lock.json names, when they are not there yet. Runs on Node 20 in a
 * fresh clone, so it has no dependency and no types. Quiet, unless the installation fails.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Node 24 as a package: strips types, and is new enough for wrangler. Same path on every platform. */
export const NODE = path.join(
  ROOT,
  "node_modules",
  "node",
  "bin",
  process.platform === "win32" ? "node.exe" : "node",
);

/**
 * True when what lies in node_modules is what the lock file names. It compares versions rather than times
 * of files: a checkout and a copy both change times. Optional packages may be absent (other platforms).
 */
export function isInstalled() {
  if (!existsSync(NODE)) return false;
  const wanted = packagesOf(path.join(ROOT, "package-lock.json"));
  const present = packagesOf(path.join(ROOT, "node_modules", ".package-lock.json"));
  return Object.entries(wanted).every(([place, entry]) => {
    if (place === "" || entry.link) return true;
    const found = present[place];
    return found ? found.version === entry.version : entry.optional === true;
  });
}

function packagesOf(file) {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")).packages ?? {}) : {};
}

/** @returns exit code: 0 when everything is in place. `signal` stops an installation under way. */
export async function install(signal) {
  if (isInstalled()) return 0;
  console.log("installing packages (once)");
  const code = await quietly(npm(), ["ci", "--include=dev"], ROOT, signal);
  if (code !== 0 || existsSync(NODE)) return code;
  // An npm that runs no install scripts leaves the package `node` without its binary.
  return quietly(
    [process.execPath],
    ["installArchSpecificPackage"],
    path.join(ROOT, "node_modules", "node"),
    signal,
  );
}

/** The npm that started this script, so that a run under another npm version stays with it. */
function npm() {
  const script = process.env.npm_execpath;
  return script?.endsWith(".js") ? [process.execPath, script] : ["npm"];
}

function quietly([command, ...before], args, cwd, signal) {
  return new Promise((resolve) => {
    const output = [];
    const child = spawn(command, [...before, ...args], {
      cwd,
      signal,
      // `npm start --silent` would otherwise silence the reason of a failure too.
      env: { ...process.env, npm_config_loglevel: "error" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.on("data", (chunk) => output.push(chunk));
    child.stderr.on("data", (chunk) => output.push(chunk));
    child.on("error", (error) => {
      if (!signal?.aborted) console.error(`could not run ${command}: ${error.message}`);
      resolve(1);
    });
    child.on("close", (code) => {
      if (code !== 0 && !signal?.aborted) process.stderr.write(Buffer.concat(output));
      resolve(code ?? 1);
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await install();
