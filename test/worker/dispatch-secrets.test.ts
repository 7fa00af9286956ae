import { createHash } from "node:crypto";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { call, put, receipt, request } from "../support/client.ts";

const upstream = inject("upstream");
const host = new URL(upstream).host;

function bind(name: string, hosts: string[]): Promise<{ status: number }> {
  return request(`/api/secrets/${name}`, { method: "PUT", body: { hosts } });
}

/** A row as it may stand in the table by plain SQL, past the hygiene gate. */
async function insertBySql(key: string, target: string, auth: string): Promise<void> {
  await env.DB.prepare(
    "insert into directory (key, type, target, auth, content, updated_at) values (?, 'http', ?, ?, '# WHAT: by SQL', '')",
  )
    .bind(key, target, auth)
    .run();
}

beforeAll(async () => {
  await put({
    key: "LOCKED",
    type: "http",
    target: `GET ${upstream}/echo`,
    auth: "bearer:TEST_BEARER",
  });
});

describe("a secret", () => {
  it("goes nowhere until it is bound to the host, and no longer once it is unbound", async () => {
    const refused = `ERR:http:LOCKED:ERR:auth:host_not_bound:TEST_BEARER:${host}`;
    expect((await call("LOCKED")).json.result).toBe(refused);
    await bind("TEST_BEARER", [host]);
    expect((await call("LOCKED")).json).toMatchObject({ ok: true });
    await bind("TEST_BEARER", []);
    expect((await call("LOCKED")).json.result).toBe(refused);
    await bind("TEST_BEARER", [host]);
  });

  it("arrives at the upstream and is redacted from whatever the upstream says of it", async () => {
    const answer = await call("LOCKED");
    expect(answer.json.result).toContain("[redacted:TEST_BEARER]");
    expect(answer.text).not.toContain("s3cr3t");
    expect(JSON.stringify(await receipt(answer))).not.toContain("s3cr3t");
  });

  it("cannot be rowcall's own, whichever way the row came in", async () => {
    const written = await request("/api/directory", {
      body: {
        key: "THIEF",
        type: "http",
        target: `GET ${upstream}/echo`,
        auth: "bearer:TERMINAL_KEY",
        content: "# WHAT: takes",
      },
    });
    expect(written.status).toBe(422);
    expect(written.json.error).toBe("registry_hygiene_refused: invalid_auth");
    await insertBySql("THIEF_BY_SQL", `GET ${upstream}/echo`, "bearer:TERMINAL_KEY");
    expect((await call("THIEF_BY_SQL")).json.result).toBe(
      "ERR:http:THIEF_BY_SQL:ERR:auth:reserved_name:TERMINAL_KEY",
    );
  });

  it("under an unknown prefix is an error of the row", async () => {
    await insertBySql("ODD", `GET ${upstream}/echo`, "apikey:TEST_BEARER");
    expect((await call("ODD")).json.result).toBe("ERR:http:ODD:ERR:auth:unknown_prefix:apikey");
  });

  it("that the environment lacks applies nothing, and the owner hears of it", async () => {
    await put({
      key: "BARE",
      type: "http",
      target: `GET ${upstream}/echo`,
      auth: "bearer:NOT_SET_HERE",
    });
    const answer = await call("BARE", "", { as: "json" });
    expect(answer.json).toMatchObject({ ok: true, auth: { name: "NOT_SET_HERE", present: false } });
    expect(answer.json.result.headers.authorization).toBeUndefined();
  });
});

describe("the redactor", () => {
  it("takes members out by name, of input and output, and leaves the event's own fields", async () => {
    await put({ key: "MIRROR", type: "http", target: `POST ${upstream}/echo`, content: "$1+" });
    const answer = await call("MIRROR", '{"password":"hunter22","note":"kept"}');
    const { data } = await receipt(answer);
    expect(data.input).toBe('{"password":"[redacted]","note":"kept"}');
    expect(JSON.stringify(data)).not.toContain("hunter22");
    expect(data.token_id).toBeNull();
    const replay = await request("/api/dispatch", { body: { replay: answer.json.invocation.id } });
    expect(replay.json.error).toBe("replay_input_redacted");
  });

  it("takes the owner key out wherever a caller put it", async () => {
    await put({ key: "PARROT", type: "fn", target: "echo" });
    const { data } = await receipt(
      await call("PARROT", "my key is owner-key-of-the-test-deployment"),
    );
    expect(JSON.stringify(data)).not.toContain("owner-key-of-the-test");
  });
});

describe("the auth breaker", () => {
  it("opens after 8 refusals, sends nothing while open, and closes when its KV key is deleted", async () => {
    await put({ key: "DEAD", type: "http", target: `GET ${upstream}/status/401?id=dead` });
    for (let n = 0; n < 8; n++) expect((await call("DEAD")).json.result).toMatch(/^ERR:http:401:/);
    const open =
      "ERR:breaker_open:DEAD — 8 consecutive auth failures; credential is dead until replaced.";
    const answer = await call("DEAD");
    expect(answer.json).toMatchObject({ ok: false, ran: true, result: open });
    expect((await receipt(answer)).data.attempts).toBe(0);
    const { events } = (await request("/api/ledger?kind=BREAKER_OPEN&key=DEAD")).json;
    expect(events).toHaveLength(1);
    await env.KV.delete("breaker:DEAD");
    expect((await call("DEAD")).json.result).toMatch(/^ERR:http:401:/);
  });

  it("closes when the row's auth changes", async () => {
    await put({ key: "RENEWED", type: "http", target: `GET ${upstream}/status/403?id=renewed` });
    for (let n = 0; n < 9; n++) await call("RENEWED");
    expect((await call("RENEWED")).json.result).toMatch(/^ERR:breaker_open:RENEWED/);
    await request("/api/directory/RENEWED", {
      method: "PATCH",
      body: { auth: "bearer:NOT_SET_HERE" },
    });
    expect((await call("RENEWED")).json.result).toMatch(/^ERR:http:403:/);
  });

  it("is reset by any other answer, and never opened by an upstream's own 4xx", async () => {
    await put({ key: "FUSSY", type: "http", target: `GET ${upstream}/status/$1?id=fussy` });
    for (let n = 0; n < 7; n++) await call("FUSSY", "401");
    await call("FUSSY", "404");
    for (let n = 0; n < 7; n++) await call("FUSSY", "401");
    for (let n = 0; n < 12; n++)
      expect((await call("FUSSY", "404")).json.result).toMatch(/^ERR:http:404:/);
  });
});

describe("the transport breaker", () => {
  it("holds when the calls that open it come all at once", async () => {
    await put({ key: "RUSH", type: "http", target: `POST ${upstream}/status/502?id=rush` });
    await Promise.all(Array.from({ length: 30 }, () => call("RUSH")));
    expect((await call("RUSH")).json.result).toMatch(/^ERR:breaker_open:RUSH/);
    const { events } = (await request("/api/ledger?kind=BREAKER_OPEN&key=RUSH")).json;
    expect(events).toHaveLength(1);
  });

  it("opens after 5 failures and says when the next try is", async () => {
    await put({ key: "DOWN", type: "http", target: `POST ${upstream}/status/503?id=down` });
    for (let n = 0; n < 5; n++) expect((await call("DOWN")).json.result).toMatch(/^ERR:http:503:/);
    expect((await call("DOWN")).json.result).toMatch(
      /^ERR:breaker_open:DOWN — upstream failing; next try in \d+s\.$/,
    );
  });
});

describe("the record of a call", () => {
  it("has a started event before a writing row fires, none for a reading one", async () => {
    await put({ key: "WRITES", type: "http", target: `POST ${upstream}/echo` });
    await put({ key: "READS", type: "http", target: `GET ${upstream}/echo` });
    const written = await call("WRITES");
    const started = (await request("/api/ledger?kind=INVOKE_STARTED&key=WRITES")).json.events;
    expect(started).toHaveLength(1);
    expect(started[0].data.invocation_id).toBe(written.json.invocation.id);
    expect(started[0].seq).toBeLessThan((await receipt(written)).seq);
    await call("READS");
    expect((await request("/api/ledger?kind=INVOKE_STARTED&key=READS")).json.events).toHaveLength(
      0,
    );
  });

  it("keeps a large output in R2 under its hash and pages it from there", async () => {
    await put({ key: "LARGE", type: "fn", target: "echo" });
    const text = "abcdefghij".repeat(10_000);
    const answer = await call("LARGE", text);
    const { data } = await receipt(answer);
    expect(data.output).toBeNull();
    expect(data.output_ref).toBe(`sha256/${data.fingerprints.output}`);
    expect(data.output_bytes).toBe(100_000);
    expect(await (await env.BLOBS.get(data.output_ref))?.text()).toBe(text);
    const first = (await request(`/api/dispatch?output=${answer.json.invocation.id}`)).json;
    expect(first.output).toBe(text.slice(0, 32 * 1024));
    const replayed = await request("/api/dispatch", {
      body: { replay: answer.json.invocation.id },
    });
    expect(replayed.json.result).toBe(text);
  });

  it("has a refusal of the owner as evidence, and none of a stranger", async () => {
    const countOf = async (): Promise<number> =>
      (await request("/api/ledger?kind=INVOKE_REFUSED&limit=500")).json.events.length;
    const before = await countOf();
    await call("NOBODY_HOME");
    expect(await countOf()).toBe(before + 1);
    await request("/api/dispatch", { anonymous: true, body: { key: "NOBODY_HOME" } });
    expect(await countOf()).toBe(before + 1);
    const [event] = (await request("/api/ledger?kind=INVOKE_REFUSED&limit=1")).json.events;
    expect(event).toMatchObject({
      actor: "owner",
      key: "NOBODY_HOME",
      data: { rule: "unknown_key" },
    });
  });

  it("says that a sensitive row ran because the owner called", async () => {
    await put({
      key: "GRAVE",
      type: "fn",
      target: "echo",
      sensitive: 1,
      input_schema: '{"type":"object","properties":{"x":{"type":"string"}}}',
    });
    expect((await receipt(await call("GRAVE", { x: "a" }))).data.watcher).toBe("owner");
  });
});

describe("confirm and the receipt page", () => {
  it("show a stranger that it happened, and neither input nor output", async () => {
    await put({ key: "QUIET", type: "fn", target: "echo" });
    const { invocation } = (await call("QUIET", "for my eyes only")).json;
    const confirmed = await request(`/api/dispatch?confirm=${invocation.id}`, { anonymous: true });
    expect(confirmed.json).toMatchObject({
      confirmed: true,
      status: "PROVEN_MATERIAL_RESULT",
      key: "QUIET",
      actor_kind: "owner",
    });
    expect(Object.keys(confirmed.json.fingerprints).sort()).toEqual([
      "contract",
      "input",
      "output",
    ]);
    const page = await request(`/receipt/${invocation.id}`, {
      anonymous: true,
      headers: { accept: "text/html" },
    });
    const policy = page.headers.get("content-security-policy");
    expect(policy).not.toContain("unsafe-inline");
    const style = /<style>([^]*)<\/style>/.exec(page.text)?.[1] ?? "";
    expect(policy).toContain(createHash("sha256").update(style).digest("base64"));
    for (const text of [
      confirmed.text,
      page.text,
      (await request(`/receipt/${invocation.id}`, { anonymous: true })).text,
    ]) {
      expect(text).toContain(confirmed.json.hash);
      expect(text).not.toContain("my eyes");
    }
    expect((await request(`/receipt/${invocation.id}`)).json.receipt.data.input).toBe(
      "for my eyes only",
    );
    expect(
      (await request(`/api/dispatch?receipt=${invocation.id}`, { anonymous: true })).status,
    ).toBe(401);
  });

  it("answer 404 for what never was, and show a hostile id as text", async () => {
    expect(
      (await request("/api/dispatch?confirm=inv_0_nothing", { anonymous: true })).json,
    ).toEqual({ confirmed: false });
    const page = await request(`/receipt/${encodeURIComponent("<script>alert(1)</script>")}`, {
      headers: { accept: "text/html" },
    });
    expect(page.status).toBe(404);
    expect(page.text).not.toContain("<script>");
  });

  it("confirm the receipt of a row that is gone", async () => {
    await put({ key: "SHORT_LIVED", type: "fn", target: "echo" });
    const { invocation } = (await call("SHORT_LIVED", "x")).json;
    await request("/api/directory/SHORT_LIVED", { method: "DELETE" });
    expect(
      (await request(`/api/dispatch?confirm=${invocation.id}`, { anonymous: true })).json.confirmed,
    ).toBe(true);
  });

  it("say RAN_WITHOUT_MATERIAL of a run that said nothing", async () => {
    await put({ key: "MUTE", type: "fn", target: "echo" });
    const { invocation } = (await call("MUTE", "")).json;
    expect((await request(`/api/dispatch?confirm=${invocation.id}`)).json.status).toBe(
      "RAN_WITHOUT_MATERIAL",
    );
  });
});
