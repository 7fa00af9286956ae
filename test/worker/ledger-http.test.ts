import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { publicJwk, readJwks, type Jwks, type PublicKeys } from "../../src/core/chain.ts";
import type { LedgerEvent } from "../../src/core/event.ts";
import { sha256Hex } from "../../src/core/canonical.ts";
import { verifyReceipt } from "../../src/core/verify.ts";
import { ledgerPort, ledgerStub } from "../../src/objects/stubs.ts";
import { SCAN_EVENTS } from "../../src/objects/ledger-read.ts";
import { blobStore } from "../../src/store/blobs.ts";
import { runInDurableObject } from "cloudflare:test";
import {
  appendTo,
  makeDraft,
  readHead,
  request,
  verifyAnswer,
  verifyLog,
} from "./ledger-support.ts";

const ledger = ledgerPort(env);
const EVENTS = 1_203;

interface List {
  events: LedgerEvent[];
  cursor?: string;
}

async function list(query: string): Promise<List> {
  const answer = await request(`/api/ledger?${query}`);
  expect(answer.status).toBe(200);
  return answer.json();
}

beforeAll(async () => {
  await runInDurableObject(ledgerStub(env), (instance) => {
    for (let seq = 1; seq <= EVENTS; seq++) {
      const draft = makeDraft({
        key: seq % 2 ? "ODD" : "EVEN",
        actor: seq % 3 ? "owner" : "anonymous",
        trace: `t_${seq % 5}`,
        at: new Date(Date.UTC(2026, 0, 1, 0, 0, seq)).toISOString(),
        data: seq % 7 ? { ok: true } : { ok: false },
      });
      appendTo(instance, draft);
    }
    const pin = makeDraft({ id: "evt_0_pin", kind: "PIN", key: null, data: {} });
    appendTo(instance, pin);
  });
});

describe("the list", () => {
  it("is newest first and pages by cursor without gap or double", async () => {
    const seqs: number[] = [];
    let query = "limit=400";
    for (let page = 0; page < 4; page++) {
      const { events, cursor } = await list(query);
      seqs.push(...events.map((event) => event.seq));
      if (cursor === undefined) break;
      query = `limit=400&cursor=${cursor}`;
    }
    expect(seqs).toEqual(Array.from({ length: EVENTS + 1 }, (_, at) => EVENTS + 1 - at));
  });

  it("has 100 events unless asked otherwise, and no cursor at the beginning of the log", async () => {
    expect((await list("")).events).toHaveLength(100);
    expect(await list("cursor=3")).toMatchObject({ events: [{ seq: 2 }, { seq: 1 }] });
    expect(await list("cursor=3")).not.toHaveProperty("cursor");
    expect(await list("cursor=999999999999999&limit=1")).toMatchObject({
      events: [{ seq: EVENTS + 1 }],
    });
  });

  it.each([
    ["kind=PIN", (event: LedgerEvent) => event.kind === "PIN"],
    ["key=ODD", (event: LedgerEvent) => event.key === "ODD"],
    ["actor=anonymous", (event: LedgerEvent) => event.actor === "anonymous"],
    ["trace=t_3", (event: LedgerEvent) => event.trace === "t_3"],
    ["ok=false", (event: LedgerEvent) => event.data.ok === false],
    ["ok=true&key=EVEN", (event: LedgerEvent) => event.data.ok === true && event.key === "EVEN"],
    [
      "since=2026-01-01T01:10:00%2B01:00",
      (event: LedgerEvent) => event.at >= "2026-01-01T00:10:00.000Z",
    ],
    ["until=2026-01-01T00:00:09Z", (event: LedgerEvent) => event.at < "2026-01-01T00:00:09.000Z"],
    ["since=2026-01-02", (event: LedgerEvent) => event.at >= "2026-01-02"],
  ])("filters by %s", async (query, expected) => {
    const all = (await list("limit=500")).events;
    const { events } = await list(`limit=500&${query}`);
    const seen = new Set(events.map((event) => event.seq));
    const wanted = all.filter(expected).map((event) => event.seq);
    expect(events.every(expected)).toBe(true);
    expect(events.length).toBeGreaterThan(0);
    if (events.length < 500) expect(wanted.every((seq) => seen.has(seq))).toBe(true);
  });

  it.each([
    ["kind=NOPE", "kind"],
    ["key=", "key"],
    ["ok=maybe", "ok"],
    ["since=yesterday", "since"],
    ["until=2026-13-01", "until"],
    ["cursor=-1", "cursor"],
    ["cursor=1e3", "cursor"],
    ["limit=0", "limit"],
    ["limit=501", "limit"],
    ["limit=ten", "limit"],
    ["limit=1&limit=2", "limit"],
    ["knd=PIN", "knd"],
    [`actor=${"a".repeat(257)}`, "actor"],
  ])("answers 400 to %s and names it", async (query, field) => {
    const answer = await request(`/api/ledger?${query}`);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: "invalid_filter", field },
    ]);
  });

  it("takes filters as plain text", async () => {
    expect((await list(`key=${encodeURIComponent("ODD' or 1=1 --")}`)).events).toEqual([]);
  });
});

describe("the export", () => {
  it("verifies offline over more than two pages", async () => {
    const answer = await request("/api/ledger/export");
    expect(answer.headers.get("content-type")).toBe("application/x-ndjson");
    expect(await verifyAnswer(answer)).toMatchObject({ ok: true, count: EVENTS + 1 });
  });

  it("ends at the head it began with, though events come meanwhile and keys change", async () => {
    const { size } = await readHead();
    const answer = await request("/api/ledger/export");
    await request("/api/ledger/rotate", { method: "POST" });
    await ledger.append(makeDraft(), null);
    expect(await verifyAnswer(answer)).toMatchObject({ ok: true, count: size });
    expect(await verifyLog()).toMatchObject({ ok: true, count: size + 1 });
  });

  it("reads no further than its reader", async () => {
    const reader = (await request("/api/ledger/export")).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(await verifyLog()).toMatchObject({ ok: true });
  });

  it("holds receipts that verify alone, against the published keys", async () => {
    const jwks: Jwks = await (await request("/.well-known/jwks.json", {}, "anonymous")).json();
    const keys = readJwks({ keys: jwks.keys.map((key) => ({ ...key })) }) as PublicKeys;
    const { events } = await list("limit=1");
    expect(verifyReceipt(JSON.stringify({ ...events[0], repaired_by: [] }), keys)).toMatchObject({
      ok: true,
    });
  });
});

describe("the keys", () => {
  it("are public, cacheable for a minute, and hold no private half", async () => {
    const answer = await request("/.well-known/jwks.json", {}, "anonymous");
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60");
    const { keys }: Jwks = await answer.json();
    for (const key of keys) expect(key).toEqual(publicJwk(key.x));
  });

  it("rotate for the owner, and the newest stands first", async () => {
    const { kid }: { kid: string } = await (
      await request("/api/ledger/rotate", { method: "POST" })
    ).json();
    const { keys }: Jwks = await (await request("/.well-known/jwks.json")).json();
    expect(keys[0]?.kid).toBe(kid);
  });
});

it.each([
  ["GET", "/api/ledger"],
  ["GET", "/api/ledger?limit=none"],
  ["GET", "/api/ledger/export"],
  ["POST", "/api/ledger/rotate"],
])("only the owner may %s %s", async (method, path) => {
  const answer = await request(path, { method }, "anonymous");
  expect([answer.status, await answer.json()]).toMatchObject([401, { error: "unauthorized" }]);
});

it("finds one event behind more than it looks at in one step, and pages of long events stay bounded", async () => {
  await runInDurableObject(ledgerStub(env), (instance) => {
    for (let at = 0; at < SCAN_EVENTS + 10; at++) appendTo(instance, makeDraft());
  });
  expect((await list("kind=PIN")).events).toHaveLength(1);
  await runInDurableObject(ledgerStub(env), (instance) => {
    for (let at = 0; at < 40; at++) {
      appendTo(instance, makeDraft({ key: "LONG", data: { output: "x".repeat(500_000) } }));
    }
  });
  const { events, cursor } = await list("key=LONG&limit=500");
  expect(events.length).toBeGreaterThan(10);
  expect(events.length).toBeLessThan(25);
  const rest = await list(`key=LONG&limit=500&cursor=${cursor}`);
  expect(events.length + rest.events.length).toBeGreaterThan(30);
  expect(await verifyLog()).toMatchObject({ ok: true });
});

describe("large texts", () => {
  const blobs = blobStore(env.BLOBS);

  it("are kept under their hash, written once, and come back byte for byte", async () => {
    const text = "é😀\u0000".repeat(30_000);
    const ref = await blobs.put(text, sha256Hex(text));
    expect(ref).toBe(`sha256/${sha256Hex(text)}`);
    const written = (await env.BLOBS.head(ref))?.uploaded;
    expect(await blobs.put(text, sha256Hex(text))).toBe(ref);
    expect((await env.BLOBS.head(ref))?.uploaded).toEqual(written);
    expect(await blobs.get(ref)).toBe(text);
  });

  it("are not found under a name that is no hash or holds nothing", async () => {
    await env.BLOBS.put("secret.txt", "x");
    for (const ref of ["secret.txt", "sha256/../secret.txt", `sha256/${"0".repeat(64)}`]) {
      expect(await blobs.get(ref)).toBeNull();
    }
  });

  it("are refused under a hash that is not theirs", async () => {
    await expect(blobs.put("x", sha256Hex("y"))).rejects.toThrow();
  });
});
