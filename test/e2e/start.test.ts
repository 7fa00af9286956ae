import { rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { STARTER_ROWS } from "../../src/core/starter-rows.ts";
import { listProcesses } from "../../src/node/processes.ts";
import {
  holdPort,
  OWNER_KEY,
  ROOT,
  runStart,
  type Server,
  startServer,
  temporaryDirectory,
} from "../support/server.ts";

describe("a server started on an empty state", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  it("prints the ready line last, once, after address, owner key and calls to paste", () => {
    const lines = server.output().trimEnd().split("\n");
    expect(lines.at(-1)).toBe(`ready http://127.0.0.1:${server.port}`);
    expect(lines.filter((line) => line.startsWith("ready "))).toHaveLength(1);
    expect(server.output()).toContain(OWNER_KEY);
    expect(server.output()).toContain("/api/dispatch?ask=");
  });

  it("prints no warning, no tool's banner and no stack trace", () => {
    expect(server.output()).not.toMatch(
      /warn|deprecat|telemetry|wrangler|update available|^\s+at /im,
    );
    expect(server.output().split("\n").length).toBeLessThan(35);
  });

  it("answers its health check", async () => {
    const { status, json } = await server.request("/healthz");
    expect(status).toBe(200);
    expect(json.schema).toMatch(/^\d{4}_\w+\.sql$/);
  });

  it("lists every starter row", async () => {
    const { json } = await server.request("/api/directory?limit=500");
    const keys = json.rows.map((row: { key: string }) => row.key);
    expect(keys.sort()).toEqual(STARTER_ROWS.map(({ key }) => key).sort());
  });

  it.each([
    ["NOW", "Europe/Berlin", /Europe\/Berlin/],
    ["ECHO", "one|two", /^"one\|two"$/],
    ["LAST_REPLY", "so: [REPLY]yes[/REPLY]", /^"yes"$/],
    ["JSON_GET", '{"a":[1,{"b":"found"}]}|/a/1/b', /^"found"$/],
    ["HTTP_SELF", "", /^"HTTP 200:/],
    ["HELLO_FLOW", "Ada|Europe/Berlin", /^"Hello, Ada\. It is [^$]+\."$/],
    ["DIR_PATCH", 'ECHO|{"planner_rank":50}', /^"HTTP 200:/],
  ])("runs the starter row %s", async (key, body, expected) => {
    const { json } = await server.request("/api/dispatch", { json: { key, body } });
    expect(json).toMatchObject({ ok: true, ran: true });
    expect(JSON.stringify(json.result)).toMatch(expected);
  });

  it("listens on loopback alone", async () => {
    // Every address of 127.0.0.0/8 is loopback; a server on all addresses would answer on this one too.
    await expect(fetch(`http://127.0.0.2:${server.port}/healthz`)).rejects.toThrow();
  });
});

describe("a server that is stopped", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "ends with 0 on %s and leaves no process",
    async (signal) => {
      const server = await startServer();
      const below = descendants(server.pid);
      expect(below.some(({ command }) => command.includes("workerd"))).toBe(true);
      expect(await server.stop(signal)).toBe(0);
      await expect(fetch(server.origin)).rejects.toThrow();
      expect(stillAlive(below)).toEqual([]);
    },
  );

  it("keeps rows and receipts when it is killed, and serves the same port at once", async () => {
    const persist = temporaryDirectory();
    try {
      const first = await startServer({ persist });
      await first.request("/api/directory", {
        json: {
          key: "KEPT",
          type: "fn",
          target: "echo",
          content: "# WHAT: Says that it was kept.",
        },
      });
      const { json } = await first.request("/api/dispatch", { json: { key: "KEPT", body: "yes" } });
      await first.kill();

      const second = await startServer({ persist, port: first.port });
      const again = await second.request("/api/dispatch", { json: { key: "KEPT", body: "again" } });
      const confirmed = await second.request(`/api/dispatch?confirm=${json.invocation.id}`);
      await second.stop();
      expect(again.json.result).toBe("again");
      expect(confirmed.json).toMatchObject({ confirmed: true, key: "KEPT" });
    } finally {
      rmSync(persist, { recursive: true, force: true });
    }
  });

  it("ends the runtime that a killed server left behind", async () => {
    const persist = temporaryDirectory();
    try {
      const first = await startServer({ persist });
      const below = descendants(first.pid);
      // Without npm's group: workerd is the one that is left.
      for (const { pid, command } of below)
        if (!command.includes("workerd")) process.kill(pid, "SIGKILL");
      const second = await startServer({ persist, port: first.port });
      await second.stop();
      expect(stillAlive(below)).toEqual([]);
    } finally {
      rmSync(persist, { recursive: true, force: true });
    }
  });

  it("does not bring back a starter row that the owner deleted", async () => {
    const persist = temporaryDirectory();
    try {
      const first = await startServer({ persist });
      await first.request("/api/directory/HELLO_FLOW", { method: "DELETE" });
      await first.stop();
      const second = await startServer({ persist });
      const { status } = await second.request("/api/directory/HELLO_FLOW");
      await second.stop();
      expect(status).toBe(404);
    } finally {
      rmSync(persist, { recursive: true, force: true });
    }
  });
});

describe("settings", () => {
  it("takes a flag over a file", async () => {
    const persist = temporaryDirectory();
    const envFile = path.join(persist, "settings.env");
    writeFileSync(envFile, `TERMINAL_KEY="key-of-the-settings-file"\nTIME_ZONE=Asia/Tokyo\n`);
    const server = await startServer({ persist, envFile, vars: { TIME_ZONE: "Europe/Berlin" } });
    const { json } = await server.request("/api/dispatch", { json: { key: "NOW" } });
    await server.stop();
    rmSync(persist, { recursive: true, force: true });
    expect(json.result.zone).toBe("Europe/Berlin");
  });

  it("keeps the keys it made readable by this user alone", () => {
    expect(statSync(path.join(ROOT, ".dev.vars")).mode & 0o777).toBe(0o600);
  });

  it.each([
    [["--var", "TIME_ZONE:Mars/Base"], /TIME_ZONE must be an IANA time zone/],
    [["--var", "HTTP_TIMEOUT_MS:soon"], /HTTP_TIMEOUT_MS must be a whole number/],
    [["--var", "TERMINAL_KEY:short"], /TERMINAL_KEY must be at least 16 characters/],
    [["--env-file", "no-such-file"], /no-such-file cannot be read/],
  ])("refuses %s in one line that names it", async (args, message) => {
    const { code, output } = await runStart(args);
    expect(code).toBe(1);
    expect(output).toMatch(message);
    expect(output.trim().split("\n")).toHaveLength(1);
  });

  it.each([
    [["--bogus"], /--bogus/],
    [["--port", "eighty"], /--port must be a whole number/],
    [["--var", "NOVALUE"], /--var wants NAME:VALUE/],
  ])("refuses the arguments %s and shows the usage", async (args, message) => {
    const { code, output } = await runStart(args);
    expect(code).toBe(2);
    expect(output).toMatch(message);
    expect(output).toContain("npm start --");
  });

  it("says that a port is in use", async () => {
    const { port, free } = await holdPort();
    const persist = temporaryDirectory();
    const { code, output } = await runStart(["--port", String(port)], { PERSIST_TO: persist });
    await free();
    rmSync(persist, { recursive: true, force: true });
    expect(code).toBe(1);
    expect(output.trim()).toBe(`port ${port} is in use; choose another with --port N`);
  });

  it("refuses a state that another server uses", async () => {
    const persist = temporaryDirectory();
    const server = await startServer({ persist });
    const { code, output } = await runStart(["--port", "0"], { PERSIST_TO: persist });
    await server.stop();
    rmSync(persist, { recursive: true, force: true });
    expect(code).toBe(1);
    expect(output).toMatch(/is in use by process \d+/);
  });
});

interface Descendant {
  pid: number;
  command: string;
  started: string;
}

function descendants(root: number): Descendant[] {
  const all = listProcesses();
  const below = (pid: number): Descendant[] =>
    all.filter(({ parent }) => parent === pid).flatMap((entry) => [entry, ...below(entry.pid)]);
  return below(root);
}

function stillAlive(entries: Descendant[]): Descendant[] {
  const alive = new Set(listProcesses().map(({ pid, started }) => `${pid} ${started}`));
  return entries.filter(({ pid, started }) => alive.has(`${pid} ${started}`));
}
