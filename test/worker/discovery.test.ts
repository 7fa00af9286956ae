import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { STARTER_ROWS } from "../../src/core/starter-rows.ts";
import { makeApp } from "../../src/http/app.ts";
import { makeRuntimeOf } from "../../src/runtime.ts";
import { insertRow } from "../support/directory-app.ts";
import { ORIGIN, OWNER_KEY, put, request, type Answer } from "../support/client.ts";

const get = (query: string, anonymous = true): Promise<Answer> =>
  request(`/api/dispatch${query}`, { anonymous });
const bytes = ({ text }: Answer): number => new TextEncoder().encode(text).length;
beforeAll(async () => {
  for (const row of STARTER_ROWS) await insertRow(env.DB, { ...row });
});

describe("the manifest", () => {
  it("names protocol, version and every verb in at most 2 KB", async () => {
    const answer = await get("");
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      protocol: "OIP",
      version: "1.2.0",
      endpoint: `${ORIGIN}/api/dispatch`,
    });
    expect(Object.keys(answer.json.get)).toEqual([
      "ask",
      "key",
      "registry",
      "map",
      "receipt",
      "confirm",
      "replay",
      "output",
    ]);
    expect(bytes(answer)).toBeLessThanOrEqual(2_048);
  });

  it("is what a stranger to the verbs is sent to", async () => {
    const answer = await get("?frobnicate=1");
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      error: "unknown_verb",
      ran: false,
      attempted: ["frobnicate"],
    });
    expect(answer.json.hint).toContain("ask, key, registry, map");
  });
});

describe("DISCOVERY=credentialed", () => {
  const app = makeApp(makeRuntimeOf((inner, bindings) => app.fetch(inner, bindings)));
  const closed = { ...env, DISCOVERY: "credentialed" } as unknown as Env;
  const ask = async (query: string, headers: Record<string, string> = {}): Promise<number> =>
    (await app.fetch(new Request(`${ORIGIN}/api/dispatch${query}`, { headers }), closed)).status;

  it.each(["?ask=time", "?key=NOW", "?registry=1", "?map=1"])(
    "wants a credential for %s",
    async (query) => {
      expect(await ask(query)).toBe(401);
      expect(await ask(query, { "x-terminal-key": "wrong" })).toBe(401);
      expect(await ask(query, { "x-terminal-key": OWNER_KEY })).toBe(200);
    },
  );

  it("still says what the endpoint is", async () => {
    expect(await ask("")).toBe(200);
  });
});

describe("ask", () => {
  it("answers with the best row, ready to run, and the candidates", async () => {
    const answer = await get("?ask=what+time+is+it+in+Tokyo");
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.json).slice(0, 7)).toEqual([
      "protocol",
      "version",
      "kind",
      "question",
      "count",
      "best",
      "candidates",
    ]);
    expect(answer.json).toMatchObject({
      protocol: "OIP",
      version: "1.2.0",
      kind: "ask",
      question: "what time is it in Tokyo",
    });
    const { best, candidates, count } = answer.json;
    expect(Object.keys(best)).toEqual([
      "key",
      "what",
      "args",
      "example",
      "run_now",
      "do",
      "confidence",
    ]);
    expect(best).toMatchObject({
      key: "NOW",
      example: "[NOW]Europe/Berlin[/NOW]",
      run_now: `POST ${ORIGIN}/api/dispatch {"key":"NOW","body":"Europe/Berlin"}`,
    });
    expect(candidates[0].key).toBe("NOW");
    expect(count).toBe(candidates.length);
    expect(bytes(answer)).toBeLessThanOrEqual(1_800);
  });

  it.each([
    "NOW",
    "what time is it",
    "current date and time",
    "tell me the time now in a zone please",
    "time",
  ])("finds NOW among the starter rows in at most 1,800 bytes: %s", async (question) => {
    const answer = await get(`?ask=${encodeURIComponent(question)}`);
    expect(answer.json.best.key).toBe("NOW");
    expect(bytes(answer)).toBeLessThanOrEqual(1_800);
  });

  it.each([
    ["repeat my text back", "ECHO"],
    ["read a value out of json by pointer", "JSON_GET"],
    ["run a script", "CODE"],
    ["is the server healthy", "HTTP_SELF"],
    ["greet someone", "HELLO_FLOW"],
    ["change a row of the directory", "DIR_PATCH"],
    ["which capability should I call", "GUIDE"],
    ["last reply of a model's output", "LAST_REPLY"],
  ])("finds the starter rows: %s", async (question, key) => {
    expect((await get(`?ask=${encodeURIComponent(question)}`)).json.best?.key).toBe(key);
  });

  it("resolves and gives the contract in one round trip with full=1", async () => {
    const [ask, key] = await Promise.all([get("?ask=current+time&full=1"), get("?key=NOW")]);
    expect(ask.json.contract).toEqual(key.json);
    expect((await get("?ask=current+time&full=0")).json.contract).toBeUndefined();
  });

  it.each(["", "%20%20", "%09%0A"])("refuses a blank question: %s", async (blank) => {
    const answer = await get(`?ask=${blank}`);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ error: "blank_question", ran: false });
  });

  it("says so when nothing fits", async () => {
    const answer = await get("?ask=xylophone+zeppelin");
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ count: 0, best: null, candidates: [] });
    expect(answer.json.hint).toMatch(/\w/);
  });

  it.each([
    "%",
    "%E0%A4%A",
    "%00",
    "'%3Balert(1)//",
    "a".repeat(5_000),
    "天".repeat(2_000),
    '"""',
    "NEAR(",
    "100%25_%5C",
  ])("answers 200 or 400 to any characters: %.20s", async (raw) => {
    expect([200, 400]).toContain((await get(`?ask=${raw}`)).status);
  });

  it("finds a row on the very next request after its write, its disabling and its deletion", async () => {
    const ask = async (): Promise<unknown> => (await get("?ask=polish+the+samovar")).json.best?.key;
    await put({
      key: "SAMOVAR",
      type: "fn",
      target: "echo",
      content: "# WHAT: polishes the samovar",
    });
    expect(await ask()).toBe("SAMOVAR");
    await request("/api/directory/SAMOVAR", { method: "PATCH", body: { enabled: 0 } });
    expect(await ask()).toBeUndefined();
    await request("/api/directory/SAMOVAR", { method: "PATCH", body: { enabled: 1 } });
    expect(await ask()).toBe("SAMOVAR");
    await request("/api/directory/SAMOVAR", { method: "DELETE" });
    expect(await ask()).toBeUndefined();
  });
});

describe("key", () => {
  it("is the contract as JSON, and as a document", async () => {
    const json = await get("?key=now");
    expect(json.json).toMatchObject({
      path: "OIP > TIME > NOW",
      type: "fn",
      auth: "none",
      risk: "low",
    });
    const document = await get("?key=NOW&format=markdown");
    expect(document.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(document.text).toMatch(/^# OIP > TIME > NOW\n/);
    expect(document.text).toContain(json.json.contract);
  });

  it("is small for every starter row, whoever reads", async () => {
    for (const anonymous of [true, false]) {
      for (const { key } of STARTER_ROWS) {
        expect(bytes(await get(`?key=${key}&format=markdown`, anonymous)), key).toBeLessThanOrEqual(
          2_400,
        );
      }
    }
  });

  it("shows the owner what it hides from a stranger", async () => {
    await insertRow(env.DB, {
      key: "SECRETIVE",
      type: "http",
      target: "GET https://api.hidden.example/x",
      auth: "bearer:HIDDEN_KEY",
      content: "# WHAT: asks api.hidden.example with HIDDEN_KEY about zithers",
    });
    for (const query of [
      "?key=SECRETIVE",
      "?key=SECRETIVE&format=markdown",
      "?ask=zithers&full=1",
      "?registry=1",
    ]) {
      const [stranger, owner] = [await get(query), await get(query, false)];
      expect(stranger.text, query).not.toMatch(/hidden\.example|HIDDEN_KEY/);
      expect(owner.text, query).toMatch(/hidden\.example|HIDDEN_KEY/);
    }
  });

  it("answers 404 with near keys for an unknown one, and the same for a disabled one", async () => {
    const answer = await get("?key=JSON_GTE");
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({ error: "unknown_key", attempted: "JSON_GTE", ran: false });
    expect(answer.json.did_you_mean).toContain("JSON_GET");
    await insertRow(env.DB, {
      key: "ASLEEP",
      type: "fn",
      target: "now",
      enabled: 0,
      content: "# WHAT: sleeps",
    });
    const asleep = await get("?key=ASLEEP");
    expect(asleep.status).toBe(404);
    expect(asleep.json.did_you_mean).not.toContain("ASLEEP");
  });

  it.each(["", "%00", "' or 1=1", "x".repeat(5_000), "__proto__"])(
    "takes any key for an unknown one: %.20s",
    async (key) => {
      expect((await get(`?key=${key}`)).status).toBe(404);
    },
  );
});
