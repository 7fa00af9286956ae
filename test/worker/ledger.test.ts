import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { BreakerSignal } from "../../src/core/call.ts";
import type { LedgerEvent } from "../../src/core/event.ts";
import type { Guard } from "../../src/dispatch/ports.ts";
import { ledgerAdmin, ledgerPort, ledgerStub } from "../../src/objects/stubs.ts";
import { appendTo, makeDraft, readHead, verifyLog } from "./ledger-support.ts";

const ledger = ledgerPort(env);
const admin = ledgerAdmin(env);

describe("the chain", () => {
  it("grows without a fork when five clients append at once under a frozen clock, genesis included", async () => {
    const clients = Array.from({ length: 5 }, () => ledgerPort(env));
    const late = makeDraft({ at: "2026-07-31T23:59:55.000Z" });
    const drafts = [...Array.from({ length: 99 }, () => makeDraft()), late];
    const answers = await Promise.all(
      drafts.map((draft, at) => clients[at % 5]?.append(draft, null)),
    );
    const seqs = answers.map((answer) =>
      answer?.outcome === "appended" ? answer.recorded.seq : 0,
    );
    expect(seqs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
    const { events } = await admin.list({ limit: 500 });
    expect(new Set(events.map((event) => event.prev)).size).toBe(100);
    expect(await verifyLog()).toMatchObject({ ok: true, count: 100 });
  });

  it("answers an id that it holds already with what stands there", async () => {
    const draft = makeDraft();
    const first = await ledger.append(draft, null);
    const again = await ledger.append({ ...draft, data: { ok: false } }, null);
    expect(again).toEqual(first);
    expect((await ledger.find(draft.id))?.data).toEqual(draft.data);
  });

  it("cannot fork even by SQL, and a failed insert leaves the head where it was", async () => {
    const before = await readHead();
    await runInDurableObject(ledgerStub(env), (instance, { storage }) => {
      const fork = (seq: string): string =>
        `insert into events select ${seq}, 'evt_0_fork', kind, key, actor, trace, ok, at, repairs, body
        from events where seq = 1`;
      for (const seq of ["seq", "seq + 1000", "0"]) {
        expect(() => storage.sql.exec(fork(seq))).toThrow("events: not the next seq");
      }
      expect(() => storage.sql.exec("update events set body = '{}'")).toThrow("append-only");
      storage.sql.exec(
        "create trigger full before insert on events begin select raise(abort, 'disk full'); end",
      );
      expect(() => appendTo(instance, makeDraft())).toThrow("disk full");
      storage.sql.exec("drop trigger full");
    });
    expect(await readHead()).toMatchObject({ size: before.size, hash: before.hash });
    await ledger.append(makeDraft(), null);
    expect(await verifyLog()).toMatchObject({ ok: true, count: before.size + 1 });
  });

  it("takes whatever a caller can send, of any size", async () => {
    const odd = makeDraft({
      data: { a: "\ud800\u0000\u2028", b: 2 ** 53 + 2, c: { __proto__: null } },
    });
    const huge = makeDraft({
      data: { action: "put", row: { content: "\u0001é".repeat(700_000) }, version: 3 },
    });
    for (const draft of [odd, huge]) {
      expect(await ledger.append(draft, null)).toMatchObject({ outcome: "appended" });
    }
    expect((await ledger.find(huge.id))?.data).toMatchObject({
      action: "put",
      row: {
        omitted: { bytes: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
      version: 3,
    });
    expect(await verifyLog()).toMatchObject({ ok: true });
  });

  it("keeps chain and keys over a restart", async () => {
    const [head, jwks] = [await readHead(), await admin.jwks()];
    await evictDurableObject(ledgerStub(env));
    expect(await readHead()).toMatchObject({ size: head.size, hash: head.hash, kid: head.kid });
    expect(await admin.jwks()).toEqual(jwks);
    await ledger.append(makeDraft(), null);
    expect(await verifyLog()).toMatchObject({ ok: true, count: head.size + 1 });
  });

  it("stays whole when the key changes, and forgets the old private key", async () => {
    const before = await readHead();
    const { kid } = await admin.rotate();
    expect(kid).not.toBe(before.kid);
    await ledger.append(makeDraft(), null);
    await evictDurableObject(ledgerStub(env));
    const draft = makeDraft();
    await ledger.append(draft, null);
    expect((await ledger.find(draft.id))?.kid).toBe(kid);
    expect((await admin.jwks()).keys.map((key) => key.kid)).toEqual([kid, before.kid]);
    await runInDurableObject(ledgerStub(env), (_instance, { storage }) => {
      expect(
        storage.sql.exec("select kid from signing_keys where d is not null").toArray(),
      ).toEqual([{ kid }]);
    });
    expect(await verifyLog()).toMatchObject({ ok: true, count: before.size + 2 });
  });
});

describe("an invocation", () => {
  it("is open from its start to its receipt, over a restart too", async () => {
    const receipt = makeDraft();
    const started = makeDraft({
      id: "evt_0_started000000000",
      kind: "INVOKE_STARTED",
      data: { invocation_id: receipt.id },
    });
    const guard = { claims: [], fresh: true };
    expect(await ledger.admit(guard, started)).toEqual({ outcome: "admitted" });
    await evictDurableObject(ledgerStub(env));
    expect((await ledger.find(receipt.id))?.kind).toBe("INVOKE_STARTED");
    expect((await ledger.find(started.id))?.id).toBe(started.id);
    await ledger.append(receipt, { ...guard, started: true });
    expect((await ledger.find(receipt.id))?.kind).toBe("INVOKE");
    await runInDurableObject(ledgerStub(env), (_instance, { storage }) => {
      expect(storage.sql.exec("select count(*) n from open_invocations").one()).toEqual({ n: 0 });
    });
  });

  it("that nobody made is not found", async () => {
    expect(await ledger.find("inv_0_nothing")).toBeNull();
    expect(await admin.receipt("inv_0_nothing")).toBeNull();
  });

  it("shows what corrected it, which stands in no event", async () => {
    const wrong = makeDraft({ data: { ok: false } });
    const right = makeDraft({ data: { ok: true, repairs: wrong.id } });
    await ledger.append(wrong, null);
    await ledger.append(right, null);
    expect(await admin.receipt(wrong.id)).toMatchObject({ id: wrong.id, repaired_by: [right.id] });
    expect(await admin.receipt(right.id)).toEqual(await ledger.find(right.id));
    expect(await ledger.find(wrong.id)).not.toHaveProperty("repaired_by");
  });
});

describe("the breaker", () => {
  beforeAll(() => ledger.resetBreaker("UP"));

  function guardOf(signal?: BreakerSignal, credential = "digest-1"): Guard {
    return {
      claims: [],
      fresh: true,
      breaker: { key: "UP", credential, ...(signal && { signal }) },
    };
  }

  function openings(events: LedgerEvent[]): LedgerEvent[] {
    return events.filter((event) => event.kind === "BREAKER_OPEN");
  }

  it("opens once at the eighth auth failure, with an event in the same step", async () => {
    for (let failure = 1; failure < 8; failure++) {
      const answer = await ledger.append(makeDraft({ key: "UP" }), guardOf("auth"));
      expect(answer).toMatchObject({ opened: false, watched: true });
    }
    const last = makeDraft({ key: "UP", via: "mcp", trace: "t_9" });
    const answer = await ledger.append(last, guardOf("auth"));
    expect(answer).toMatchObject({ opened: true, watched: true });
    const [event, ...more] = openings((await admin.list({ key: "UP", limit: 500 })).events);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      actor: "engine",
      via: "mcp",
      key: "UP",
      trace: "t_9",
      parent: last.id,
      data: { reason: "auth" },
    });
    expect(JSON.stringify(event)).not.toContain("digest-1");
    if (answer.outcome === "appended") expect(event?.seq).toBe(answer.recorded.seq + 1);
  });

  it("admits nothing while it is open, and leaves no trace of what it refused", async () => {
    const { size } = await readHead();
    const started = makeDraft({ kind: "INVOKE_STARTED", data: { invocation_id: "inv_0_never" } });
    expect(await ledger.admit(guardOf(), started)).toEqual({
      outcome: "open",
      error:
        "ERR:breaker_open:UP — 8 consecutive auth failures; credential is dead until replaced.",
      marked: false,
    });
    expect((await readHead()).size).toBe(size);
  });

  it("stays open over a restart and closes when it is reset or the credential is another", async () => {
    await evictDurableObject(ledgerStub(env));
    expect(await ledger.admit(guardOf(), null)).toMatchObject({ outcome: "open" });
    expect(await ledger.admit(guardOf(undefined, "digest-2"), null)).toEqual({
      outcome: "admitted",
    });
    await ledger.resetBreaker("UP");
    expect(await ledger.admit(guardOf(), null)).toEqual({ outcome: "admitted" });
  });

  it("counts one receipt once, and forgets at a healthy answer", async () => {
    const draft = makeDraft({ key: "UP" });
    for (let time = 0; time < 9; time++) {
      expect(await ledger.append(draft, guardOf("auth"))).toMatchObject({
        opened: false,
        watched: true,
      });
    }
    expect(await ledger.append(makeDraft(), guardOf())).toMatchObject({ watched: true });
    expect(await ledger.append(makeDraft(), guardOf("healthy"))).toMatchObject({ watched: false });
    await runInDurableObject(ledgerStub(env), (_instance, { storage }) => {
      expect(storage.sql.exec("select * from breakers").toArray()).toEqual([]);
    });
  });

  it("never breaks the chain", async () => {
    expect(await verifyLog()).toMatchObject({ ok: true });
  });
});
