/** Three services that nobody here wrote, reached through rows, with their credentials kept out of them. */
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT, type Server, startServer, temporaryDirectory } from "../support/server.ts";
import {
  type Service,
  startAlertmanager,
  startInfluxdb,
  startSyncthing,
} from "../support/services.ts";

let server: Server;
let alertmanager: Service;
let syncthing: Service;
let influxdb: Service;
const directory = temporaryDirectory();

const secrets = () => ({ AM_LOGIN: alertmanager, ST_KEY: syncthing, IX_TOKEN: influxdb });

beforeAll(async () => {
  [alertmanager, syncthing, influxdb] = await Promise.all([
    startAlertmanager(),
    startSyncthing(),
    startInfluxdb(),
  ]);
  const envFile = path.join(directory, "secrets.env");
  const lines = Object.entries(secrets()).map(([name, { secret }]) => `${name}="${secret}"\n`);
  writeFileSync(envFile, lines.join(""), { mode: 0o600 });
  const hosts = [alertmanager, syncthing, influxdb].map(({ host }) => host);
  server = await startServer({ envFile, vars: { ALLOW_PRIVATE_HOSTS: hosts.join(",") } });
  for (const row of rows()) {
    const answer = await server.request("/api/directory", { json: row });
    expect(answer, answer.text).toMatchObject({ status: 201 });
  }
});

afterAll(async () => {
  await server?.stop();
  await Promise.all([alertmanager, syncthing, influxdb].map((service) => service?.stop()));
  rmSync(directory, { recursive: true, force: true });
});

function rows() {
  const basic = { type: "http", auth: "basic:AM_LOGIN", category: "alerts" };
  const header = { type: "http", auth: 'headers:{"X-API-Key":"$ST_KEY"}', category: "sync" };
  const bearer = { type: "http", auth: "bearer:IX_TOKEN", category: "metrics" };
  const at = ({ host }: Service, method: string, place: string) =>
    `${method} http://${host}${place}`;
  return [
    {
      ...basic,
      key: "AM_STATUS",
      target: at(alertmanager, "GET", "/api/v2/status"),
      content: "# WHAT: Shows the status of the alert manager.",
    },
    {
      ...basic,
      key: "AM_RAISE",
      target: at(alertmanager, "POST", "/api/v2/alerts"),
      content:
        '# WHAT: Raises an alert.\n# ARGS: $1=name | $2=severity | $3=summary\n[{"labels":{"alertname":"$1","severity":"$2"},"annotations":{"summary":"$3"}}]',
    },
    {
      ...basic,
      key: "AM_ALERTS",
      target: at(alertmanager, "GET", "/api/v2/alerts?filter=$1"),
      content: "# WHAT: Lists the alerts that match a filter.\n# ARGS: $1=matcher",
    },
    {
      ...header,
      key: "ST_STATUS",
      target: at(syncthing, "GET", "/rest/system/status"),
      content: "# WHAT: Shows the status of file synchronisation.",
    },
    {
      ...header,
      key: "ST_ADD_FOLDER",
      target: at(syncthing, "POST", "/rest/config/folders"),
      input_schema: JSON.stringify({
        type: "object",
        properties: {
          id: { type: "string" },
          label: { type: "string" },
          paused: { type: "boolean" },
        },
        required: ["id", "label", "paused"],
      }),
      content: `# WHAT: Adds a folder to synchronise.\n{"id":"$id","label":"$label","path":"${directory}/$id","paused":$paused}`,
    },
    {
      ...header,
      key: "ST_FOLDER",
      target: at(syncthing, "GET", "/rest/config/folders/$1"),
      content: "# WHAT: Shows one folder that is synchronised.\n# ARGS: $1=folder id",
    },
    {
      ...bearer,
      key: "IX_WRITE",
      target: at(influxdb, "POST", "/write?db=$1&precision=s"),
      content:
        "# WHAT: Writes points of measurement.\n# ARGS: $1=database | $2+=line protocol\n$2+",
    },
    {
      ...bearer,
      key: "IX_QUERY",
      target: at(influxdb, "GET", "/query?db=$1&q=$2"),
      content: "# WHAT: Queries measurements.\n# ARGS: $1=database | $2=InfluxQL",
    },
  ];
}

async function call(key: string, input: { body?: string; args?: object } = {}) {
  const { json } = await server.request("/api/dispatch", { json: { key, as: "json", ...input } });
  return json;
}

it("sends nothing while a secret is bound to no host", async () => {
  for (const [key, name, { host }] of [
    ["AM_RAISE", "AM_LOGIN", alertmanager],
    ["ST_STATUS", "ST_KEY", syncthing],
    ["IX_WRITE", "IX_TOKEN", influxdb],
  ] as const) {
    const { json } = await server.request("/api/dispatch", { json: { key, body: "unbound|x|y" } });
    expect(json.ok).toBe(false);
    expect(json.result).toBe(`ERR:http:${key}:ERR:auth:host_not_bound:${name}:${host}`);
  }
  const login = Buffer.from(alertmanager.secret).toString("base64");
  const alerts = await fetch(`http://${alertmanager.host}/api/v2/alerts`, {
    headers: { authorization: `Basic ${login}` },
  });
  expect(await alerts.json()).toEqual([]);
});

it("binds each secret to its service", async () => {
  for (const [name, { host }] of Object.entries(secrets())) {
    const answer = await server.request(`/api/secrets/${name}`, {
      method: "PUT",
      json: { hosts: [host] },
    });
    expect(answer, answer.text).toMatchObject({ status: 200 });
  }
});

it("raises an alert by basic authentication and finds it again", async () => {
  const status = await call("AM_STATUS");
  expect(status.result.versionInfo.version).toMatch(/^\d+\.\d+/);
  const raised = await call("AM_RAISE", { body: 'Disk "full"|critical|90 % of C:\\data' });
  expect(raised).toMatchObject({ ok: true, ran: true });
  const found = await call("AM_ALERTS", { body: 'alertname="Disk \\"full\\""' });
  expect(found.result).toMatchObject([
    {
      labels: { alertname: 'Disk "full"', severity: "critical" },
      annotations: { summary: "90 % of C:\\data" },
    },
  ]);
  expect((await call("AM_ALERTS", { body: 'alertname="other"' })).result).toEqual([]);
});

it("adds a folder with a key in a header and named arguments", async () => {
  const status = await call("ST_STATUS");
  expect(status.result.myID).toMatch(/^[A-Z0-9]{7}(-[A-Z0-9]{7}){7}$/);
  const args = { id: "docs", label: 'Documents & "more"', paused: true };
  expect(await call("ST_ADD_FOLDER", { args })).toMatchObject({ ok: true });
  expect((await call("ST_FOLDER", { body: "docs" })).result).toMatchObject(args);
  const missing = await server.request("/api/dispatch", {
    json: { key: "ST_FOLDER", body: "none" },
  });
  expect(missing.json).toMatchObject({ ok: false, ran: true });
  expect(missing.json.result).toMatch(/^ERR:http:404:/);
});

it("writes and queries measurements by bearer token", async () => {
  const point = "temperature,room=a\\ b value=21.5 1700000000";
  expect(await call("IX_WRITE", { body: `demo|${point}` })).toMatchObject({ ok: true });
  const { result } = await call("IX_QUERY", { body: "demo|SELECT value, room FROM temperature" });
  expect(result.results[0].series[0].values).toEqual([["2023-11-14T22:13:20Z", 21.5, "a b"]]);
});

it("leaves receipts that verify offline and hold no secret", async () => {
  const { text } = await server.request("/api/ledger/export");
  expect(text).toContain('"AM_RAISE"');
  for (const { secret } of Object.values(secrets())) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(secret).toString("base64"));
  }
  const file = path.join(directory, "ledger.jsonl");
  writeFileSync(file, text);
  expect(verify(file)).toMatchObject({ status: 0 });
  writeFileSync(
    file,
    text.replace("Disk", () => "Dusk"),
  );
  expect(verify(file)).toMatchObject({ status: 1 });
});

function verify(file: string) {
  return spawnSync("npm", ["run", "--silent", "verify", "--", file], {
    cwd: ROOT,
    encoding: "utf8",
  });
}
