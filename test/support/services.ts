import { spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { holdPort, temporaryDirectory } from "./server.ts";

/** A program of the distribution, run with a state of its own on loopback. */
export interface Service {
  /** `127.0.0.1:port` */
  host: string;
  /** The credential it wants, in the form that a secret of rowcall has. */
  secret: string;
  stop(): Promise<void>;
}

interface Daemon {
  /** Debian package, and the program in it. */
  package: string;
  program: string;
  /** Writes its configuration below `home`. @returns its arguments. */
  configure(home: string, port: number, otherPort: number): string[];
  secret: string;
  /** Answers any status once the service is up. */
  probe: string;
  prepare?(origin: string): Promise<void>;
  env?: { [name: string]: string };
}

const READY_PATIENCE_MS = 30_000;

async function run(daemon: Daemon): Promise<Service> {
  requireProgram(daemon);
  const home = temporaryDirectory();
  const [port, otherPort] = [await freePort(), await freePort()];
  const child = spawn(daemon.program, daemon.configure(home, port, otherPort), {
    cwd: home,
    env: { ...process.env, HOME: home, ...daemon.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  const exit = new Promise<void>((done) => child.on("close", () => done()));
  const origin = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + READY_PATIENCE_MS;
  while (!(await fetch(origin + daemon.probe).catch(() => undefined))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill("SIGKILL");
      throw new Error(`${daemon.program} does not answer:\n${output}`);
    }
    await sleep(100);
  }
  await daemon.prepare?.(origin);
  return {
    host: `127.0.0.1:${port}`,
    secret: daemon.secret,
    async stop() {
      child.kill("SIGTERM");
      const patience = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await exit;
      clearTimeout(patience);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function requireProgram({ program, package: name }: Daemon): void {
  if (spawnSync(program, ["--version"]).error) {
    throw new Error(
      `the Debian package ${name} is missing; install it by: apt-get install -y --no-install-recommends ${name}`,
    );
  }
}

async function freePort(): Promise<number> {
  const { port, free } = await holdPort();
  await free();
  return port;
}

/** Prometheus Alertmanager, behind basic authentication. Its password holds a colon. */
export function startAlertmanager(): Promise<Service> {
  return run({
    package: "prometheus-alertmanager",
    program: "prometheus-alertmanager",
    secret: "ada:pa55:word",
    probe: "/",
    configure(home, port) {
      writeFileSync(
        path.join(home, "am.yml"),
        "route: {receiver: none}\nreceivers: [{name: none}]\n",
      );
      // bcrypt of the password above.
      const hash = "$2b$10$SZpAfSxlF9hK0IMPlHlD5e1jmpI3z8xhOT5MhoHA/VRZP6kUd8HCm";
      writeFileSync(path.join(home, "web.yml"), `basic_auth_users:\n  ada: "${hash}"\n`);
      return [
        "--config.file=am.yml",
        "--web.config.file=web.yml",
        "--storage.path=data",
        `--web.listen-address=127.0.0.1:${port}`,
        "--cluster.listen-address=",
      ];
    },
  });
}

/** Syncthing, whose REST API wants a header of its own. It talks to no other machine here. */
export function startSyncthing(): Promise<Service> {
  const apiKey = "syncthing-key-of-the-test";
  return run({
    package: "syncthing",
    program: "syncthing",
    secret: apiKey,
    probe: "/",
    env: { STNOUPGRADE: "1" },
    configure(home, port, otherPort) {
      const off = [
        "globalAnnounceEnabled",
        "localAnnounceEnabled",
        "relaysEnabled",
        "natEnabled",
        "crashReportingEnabled",
        "startBrowser",
      ];
      writeFileSync(
        path.join(home, "config.xml"),
        `<configuration version="36">
  <gui enabled="true" tls="false"><address>127.0.0.1:${port}</address><apikey>${apiKey}</apikey></gui>
  <options>
    <listenAddress>tcp://127.0.0.1:${otherPort}</listenAddress>
    ${off.map((name) => `<${name}>false</${name}>`).join("")}
    <urAccepted>-1</urAccepted><autoUpgradeIntervalH>0</autoUpgradeIntervalH>
  </options>
</configuration>`,
      );
      return ["serve", "--home", home, "--no-browser", "--no-restart"];
    },
  });
}

/** InfluxDB, which takes a JSON Web Token as bearer credential. */
export function startInfluxdb(): Promise<Service> {
  const shared = "shared secret of the test";
  const token = signJwt({ username: "ada", exp: Math.floor(Date.now() / 1000) + 3_600 }, shared);
  return run({
    package: "influxdb",
    program: "influxd",
    secret: token,
    probe: "/ping",
    configure(home, port, otherPort) {
      const at = (name: string) => {
        mkdirSync(path.join(home, name));
        return `"${path.join(home, name)}"`;
      };
      writeFileSync(
        path.join(home, "influxdb.conf"),
        `reporting-disabled = true
bind-address = "127.0.0.1:${otherPort}"
[meta]
dir = ${at("meta")}
[data]
dir = ${at("data")}
wal-dir = ${at("wal")}
[monitor]
store-enabled = false
[http]
bind-address = "127.0.0.1:${port}"
auth-enabled = true
shared-secret = "${shared}"
`,
      );
      return ["-config", path.join(home, "influxdb.conf")];
    },
    async prepare(origin) {
      // The first user of an empty server may be made by anybody.
      await query(origin, "CREATE USER ada WITH PASSWORD 'unused' WITH ALL PRIVILEGES");
      await query(origin, "CREATE DATABASE demo", token);
    },
  });
}

async function query(origin: string, statement: string, token?: string): Promise<void> {
  const answer = await fetch(`${origin}/query`, {
    method: "POST",
    body: new URLSearchParams({ q: statement }),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  if (!answer.ok) throw new Error(`influxdb: ${answer.status} ${await answer.text()}`);
}

function signJwt(claims: object, secret: string): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}
