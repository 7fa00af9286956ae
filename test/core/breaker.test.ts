import { describe, expect, it } from "vitest";
import { admitCall, afterSignal, type BreakerState } from "../../src/core/breaker.ts";
import type { BreakerSignal } from "../../src/core/call.ts";

const HOUR_MS = 3_600_000;

/** Feeds signals one second apart from `nowMs` on. */
function feed(
  signals: BreakerSignal[],
  from: { state?: BreakerState | null; nowMs?: number; credential?: string } = {},
) {
  let state = from.state ?? null;
  const openedAt: number[] = [];
  signals.forEach((signal, index) => {
    const after = afterSignal(state, {
      signal,
      credential: from.credential ?? "c1",
      nowMs: (from.nowMs ?? 0) + index * 1000,
    });
    state = after.state;
    if (after.opened) openedAt.push(index);
  });
  return { state, openedAt };
}

const times = (n: number, signal: BreakerSignal) => Array.from({ length: n }, () => signal);
const admit = (state: BreakerState | null, nowMs: number, credential = "c1") =>
  admitCall(state, { key: "K", credential, nowMs });

const DEAD = "ERR:breaker_open:K — 8 consecutive auth failures; credential is dead until replaced.";
const failing = (seconds: number) =>
  `ERR:breaker_open:K — upstream failing; next try in ${seconds}s.`;

describe("counting", () => {
  it.each([
    ["nothing", [], null, []],
    ["healthy answers", times(9, "healthy"), null, []],
    ["seven auth failures", times(7, "auth"), null, []],
    ["eight auth failures", times(8, "auth"), "auth", [7]],
    [
      "seven, another status, seven",
      [...times(7, "auth"), "healthy", ...times(7, "auth")],
      null,
      [],
    ],
    ["seven auth, one 503, one auth", [...times(7, "auth"), "transport", "auth"], null, []],
    ["four transport failures", times(4, "transport"), null, []],
    ["five transport failures", times(5, "transport"), "transport", [4]],
    ["four, a 401, four", [...times(4, "transport"), "auth", ...times(4, "transport")], null, []],
  ] as [string, BreakerSignal[], string | null, number[]][])(
    "after %s",
    (_name, signals, reason, openedAt) => {
      const fed = feed(signals);
      expect(fed.state?.reason ?? null).toBe(reason);
      expect(fed.openedAt).toEqual(openedAt);
    },
  );

  it("keeps nothing of a row that answers", () => {
    expect(feed([...times(4, "transport"), "healthy"]).state).toBeNull();
    expect(admit(null, 0)).toEqual({ allow: true, state: null });
  });

  it("starts anew with another credential, but an upstream that does not answer is not mended by one", () => {
    const seven = feed(times(7, "auth")).state;
    expect(feed(["auth"], { state: seven, credential: "c2" }).state).toMatchObject({
      credential: "c2",
      authFailures: 1,
    });
    const four = feed(times(4, "transport")).state;
    expect(feed(["transport"], { state: four, credential: "c2" }).state?.reason).toBe("transport");
  });
});

describe("an auth opening", () => {
  const { state } = feed(times(8, "auth"));

  it("shuts the row for an hour, then forgets", () => {
    expect(admit(state, 8_000)).toEqual({ allow: false, error: DEAD });
    expect(admit(state, 7_000 + HOUR_MS - 1)).toEqual({ allow: false, error: DEAD });
    expect(admit(state, 7_000 + HOUR_MS)).toEqual({ allow: true, state: null });
    expect(feed(["auth"], { state, nowMs: 7_000 + HOUR_MS }).state?.authFailures).toBe(1);
  });

  it("ends at once with another credential", () => {
    expect(admit(state, 8_000, "c2")).toEqual({ allow: true, state: null });
  });

  it("is not undone by the late answer of a call that was under way", () => {
    expect(feed(["healthy"], { state, nowMs: 8_000 }).state).toEqual(state);
    expect(feed(["auth"], { state, nowMs: 8_000 })).toEqual({ state, openedAt: [] });
  });
});

describe("a transport opening", () => {
  const { state } = feed(times(5, "transport"));

  it("shuts the row for thirty seconds and says how long it still takes", () => {
    expect(admit(state, 4_000)).toEqual({ allow: false, error: failing(30) });
    expect(admit(state, 33_999)).toEqual({ allow: false, error: failing(1) });
    expect(admit(state, 8_000, "c2")).toEqual({ allow: false, error: failing(26) });
  });

  it("then lets exactly one probe out, and gives it up after a minute", () => {
    const first = admit(state, 34_000);
    expect(first).toMatchObject({ allow: true, state: { probing: true } });
    if (!first.allow) return;
    expect(admit(first.state, 34_001)).toEqual({ allow: false, error: failing(60) });
    expect(admit(first.state, 93_999)).toEqual({ allow: false, error: failing(1) });
    expect(admit(first.state, 94_000)).toMatchObject({
      allow: true,
      state: { probing: true, probeAtMs: 94_000 },
    });
  });

  it("closes when the probe is answered, and counts a 401 of it as the first", () => {
    const probing = { ...state!, probing: true, probeAtMs: 34_000 };
    expect(feed(["healthy"], { state: probing, nowMs: 35_000 }).state).toBeNull();
    expect(feed(["auth"], { state: probing, nowMs: 35_000 }).state).toMatchObject({
      reason: null,
      authFailures: 1,
      openings: 0,
    });
  });

  it("doubles with each failed probe up to ten minutes", () => {
    let current = state;
    let nowMs = 4_000;
    const waits: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      const untilMs = current!.openUntilMs!;
      waits.push((untilMs - nowMs) / 1000);
      nowMs = untilMs;
      const probe = admit(current, nowMs);
      expect(probe.allow).toBe(true);
      const after = afterSignal(probe.allow ? probe.state : null, {
        signal: "transport",
        credential: "c1",
        nowMs,
      });
      expect(after.opened).toBe(true);
      current = after.state;
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 600, 600]);
  });
});
