import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

export interface ProcessEntry {
  pid: number;
  parent: number;
  command: string;
  /** When it began, in the system's own words. With `pid` it names one process for ever: pids come again. */
  started: string;
}

export function listProcesses(): ProcessEntry[] {
  return existsSync("/proc/self/stat") ? fromProc() : fromPs();
}

export function findProcess(pid: number): ProcessEntry | undefined {
  return listProcesses().find((entry) => entry.pid === pid);
}

/** The workerd that Miniflare started in this process; Miniflare itself does not tell. */
export function findRuntime(): ProcessEntry | undefined {
  return listProcesses().find(
    (entry) => entry.parent === process.pid && /workerd/.test(entry.command),
  );
}

/** proc(5): the name stands in parentheses and may hold any character; the fields after it are numbers. */
function fromProc(): ProcessEntry[] {
  const boot = readIfThere("/proc/sys/kernel/random/boot_id")?.trim();
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const stat = readIfThere(`/proc/${name}/stat`);
    if (stat === undefined) return [];
    const end = stat.lastIndexOf(")");
    const fields = stat.slice(end + 2).split(" ");
    if (fields[0] === "Z") return [];
    return {
      pid: Number(name),
      parent: Number(fields[1]),
      command: stat.slice(stat.indexOf("(") + 1, end),
      started: `${boot} ${fields[19]}`,
    };
  });
}

/** A process may end between the listing and the reading. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function fromPs(): ProcessEntry[] {
  const line = /^\s*(\d+)\s+(\d+)\s+(\S+ \S+ +\d+ [\d:]+ \d+) +(.*)$/;
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,lstart=,comm="], { encoding: "utf8" });
  return lines.split("\n").flatMap((text) => {
    const match = line.exec(text);
    if (!match) return [];
    return {
      pid: Number(match[1]),
      parent: Number(match[2]),
      started: match[3]!,
      command: match[4]!,
    };
  });
}
