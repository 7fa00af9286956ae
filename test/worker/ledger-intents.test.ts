import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Guard } from "../../src/dispatch/ports.ts";
import { decideIntent, nextSettleMs } from "../../src/objects/ledger-intents.ts";
import { ledgerAdmin, ledgerPort, ledgerStub } from "../../src/objects/stubs.ts";
import { makeDraft, readHead, verifyLog } from "./ledger-support.ts";

const ledger = ledgerPort(env);
const admin = ledgerAdmin(env);

type Intent = Parameters<typeof admin.begin>[0];

let count = 0;
function intentOf(key: string, version: number): Intent {
  count++;
  const id = `evt_0_${String(count).padStart(16, "0")}`;
  const secret = key.startsWith("secret:");
  const draft = makeDraft({
    id,
    kind: secret ? "SECRET_BIND" : "DIRECTORY_MUTATE",
    key,
    data: { version },
  });
  return { draft, key, version };
}

function claim(key: string, version: number, fresh = false): Guard {
  return {
    claims: [
      { key: "OTHER", version: 9 },
      { key, version },
    ],
    fresh,
  };
}

async function outcomes(guard: Guard): Promise<string[]> {
  const { size } = await readHead();
  const [admission, appended] = [
    await ledger.admit(guard, null),
    await ledger.append(makeDraft(), guard),
  ];
  expect((await readHead()).size - size).toBe(appended.outcome === "appended" ? 1 : 0);
  return [admission.outcome, appended.outcome];
}

const PASSES = ["admitted", "appended"];
const STALE = ["stale", "stale"];

async function land({ draft, key, version }: Intent): Promise<void> {
  const text = key.startsWith("secret:")
    ? "insert into secret_bindings (name, version, hosts, receipt_id, at) values (?, ?, '[]', ?, '')"
    : `insert into directory_versions (key, version, action, row, contract, principal, receipt_id, at)
       values (?, ?, 'put', null, null, 'owner', ?, '')`;
  await env.DB.prepare(text)
    .bind(
      key.replace(/^secret:/, () => ""),
      version,
      draft.id,
    )
    .run();
}

async function age(intent: Intent, ageMs: number): Promise<void> {
  await runInDurableObject(ledgerStub(env), (_instance, { storage }) => {
    const begunAtMs = Date.now() - ageMs;
    storage.sql.exec("update intents set begun_at_ms = ? where id = ?", begunAtMs, intent.draft.id);
  });
}

async function alarmAt(): Promise<number | null> {
  return runInDurableObject(ledgerStub(env), (_instance, { storage }) => storage.getAlarm());
}

describe("a claim", () => {
  it("of a key that was never written here holds at any version", async () => {
    expect(await outcomes(claim("FIRST", 0))).toEqual(PASSES);
    expect(await outcomes(claim("FIRST", 7))).toEqual(PASSES);
  });

  it("is stale while its key is pending, and when the write made another version", async () => {
    const intent = intentOf("ROW", 2);
    await admin.begin(intent);
    expect(await outcomes(claim("ROW", 1))).toEqual(STALE);
    expect(await outcomes(claim("ROW", 2))).toEqual(STALE);
    expect(await outcomes(claim("ROW", 1, true))).toEqual(PASSES);
    expect(await outcomes(claim("ELSE", 1))).toEqual(PASSES);
    await admin.confirm(intent.draft.id);
    expect(await outcomes(claim("ROW", 1))).toEqual(STALE);
    expect(await outcomes(claim("ROW", 2))).toEqual(PASSES);
    expect(await outcomes(claim("ROW", 1, true))).toEqual(PASSES);
  });

  it("of a host binding is checked the same way", async () => {
    const intent = intentOf("secret:TOKEN", 1);
    await admin.begin(intent);
    await admin.confirm(intent.draft.id);
    expect(await outcomes(claim("secret:TOKEN", 0))).toEqual(STALE);
    expect(await outcomes(claim("secret:TOKEN", 1))).toEqual(PASSES);
  });

  it("that is stale starts nothing", async () => {
    const started = makeDraft({ kind: "INVOKE_STARTED", data: { invocation_id: "inv_0_stale" } });
    expect(await ledger.admit(claim("ROW", 1), started)).toEqual({ outcome: "stale" });
    expect(await ledger.find("inv_0_stale")).toBeNull();
  });
});

describe("a write", () => {
  it("leaves one event however often it is confirmed", async () => {
    const intent = intentOf("ONCE", 1);
    await admin.begin(intent);
    await admin.begin(intent);
    const recorded = await admin.confirm(intent.draft.id);
    expect(await admin.confirm(intent.draft.id)).toEqual(recorded);
    expect((await admin.list({ key: "ONCE", limit: 10 })).events).toHaveLength(1);
  });

  it("that was abandoned leaves the key as it was, and no event", async () => {
    const intent = intentOf("ROW", 3);
    await admin.begin(intent);
    await admin.abandon(intent.draft.id);
    expect(await outcomes(claim("ROW", 2))).toEqual(PASSES);
    expect(await ledger.find(intent.draft.id)).toBeNull();
    await expect(admin.confirm(intent.draft.id)).rejects.toThrow("no intent");
  });

  it("among several of one key keeps it pending until the last is settled, and the newest version wins", async () => {
    const [third, fourth] = [intentOf("MANY", 3), intentOf("MANY", 4)];
    await admin.begin(third);
    await admin.begin(fourth);
    await admin.confirm(fourth.draft.id);
    expect(await outcomes(claim("MANY", 4))).toEqual(STALE);
    await admin.confirm(third.draft.id);
    expect(await outcomes(claim("MANY", 4))).toEqual(PASSES);
    expect(await outcomes(claim("MANY", 3))).toEqual(STALE);
  });

  it("survives a restart between intent and confirmation", async () => {
    const intent = intentOf("KILL", 2);
    await admin.begin(intent);
    await evictDurableObject(ledgerStub(env));
    expect(await outcomes(claim("KILL", 1))).toEqual(STALE);
    await admin.confirm(intent.draft.id);
    expect(await outcomes(claim("KILL", 2))).toEqual(PASSES);
  });
});

describe("an intent whose writer died", () => {
  it.each([
    [0, true, "confirm"],
    [60_000, true, "confirm"],
    [60_000, false, "wait"],
    [299_999, false, "wait"],
    [300_000, false, "abandon"],
    [9_999_999, null, "wait"],
  ] as const)("of age %i ms, landed %s: %s", (ageMs, landed, decision) => {
    expect(decideIntent({ ageMs, landed })).toBe(decision);
  });

  it.each([
    [null, 1_000, null],
    [1_000, 2_000, 61_000],
    [1_000, 60_999, 61_000],
    [1_000, 61_000, 121_000],
  ])("begun at %s is looked at again, at %i, at %s", (begunAtMs, nowMs, next) => {
    expect(nextSettleMs(begunAtMs, nowMs)).toBe(next);
  });

  it("is confirmed by the alarm when D1 holds its version", async () => {
    for (const key of ["DEAD", "secret:DEAD"]) {
      const intent = intentOf(key, 5);
      await admin.begin(intent);
      expect(await alarmAt()).not.toBeNull();
      await land(intent);
      await age(intent, 61_000);
      await runDurableObjectAlarm(ledgerStub(env));
      expect((await ledger.find(intent.draft.id))?.data).toEqual({ version: 5 });
      expect(await outcomes(claim(key, 4))).toEqual(STALE);
      expect(await outcomes(claim(key, 5))).toEqual(PASSES);
      expect(await alarmAt()).toBeNull();
    }
  });

  it("waits while young, and is abandoned after five minutes when D1 holds another's version", async () => {
    const [intent, winner] = [intentOf("LOST", 2), intentOf("LOST", 2)];
    await admin.begin(intent);
    await land(winner);
    await age(intent, 61_000);
    await runDurableObjectAlarm(ledgerStub(env));
    expect(await outcomes(claim("LOST", 1))).toEqual(STALE);
    expect(await alarmAt()).toBeGreaterThan(Date.now());
    await age(intent, 300_001);
    await runDurableObjectAlarm(ledgerStub(env));
    expect(await outcomes(claim("LOST", 1))).toEqual(PASSES);
    expect(await ledger.find(intent.draft.id)).toBeNull();
    expect(await alarmAt()).toBeNull();
  });

  it("leaves a chain that verifies", async () => {
    expect(await verifyLog()).toMatchObject({ ok: true });
  });
});
