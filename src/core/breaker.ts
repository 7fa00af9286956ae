/**
 * The circuit breaker of one row (SPEC §5) as pure decisions. The ledger's object owns the state: it sees
 * every receipt in order, so a count of consecutive failures cannot be raced. Null is a row that has
 * counted nothing, which is nearly every row.
 */
import type { BreakerSignal } from "./call.ts";

export interface BreakerState {
  /** Digest of the credential that the auth failures belong to. */
  credential: string;
  /** Consecutive 401 or 403. */
  authFailures: number;
  /** Consecutive failures of transport. */
  transportFailures: number;
  /** Why the row is open; null while it only counts. */
  reason: "auth" | "transport" | null;
  openUntilMs: number | null;
  /** Openings by transport since the last answer; each doubles the next wait. */
  openings: number;
  /** One call was let through after the wait and has not reported back. */
  probing: boolean;
  probeAtMs: number | null;
}

export const AUTH_FAILURES_TO_OPEN = 8;
export const TRANSPORT_FAILURES_TO_OPEN = 5;
const AUTH_OPEN_MS = 3_600_000;
const TRANSPORT_OPEN_MS = 30_000;
const TRANSPORT_OPEN_MAX_MS = 600_000;
/** A probe whose engine died would keep the row shut for ever: after this long another may go. */
const PROBE_LOST_MS = 60_000;

export type Admittance =
  | { allow: true; state: BreakerState | null }
  | { allow: false; error: string };

/** May a call of this row go out now? An admitted call's `state` replaces the one that was given. */
export function admitCall(
  given: BreakerState | null,
  at: { key: string; credential: string; nowMs: number },
): Admittance {
  const state = currentState(given, at);
  if (state === null || state.reason === null || state.openUntilMs === null)
    return { allow: true, state };
  if (state.reason === "auth") {
    return {
      allow: false,
      error: `ERR:breaker_open:${at.key} — ${AUTH_FAILURES_TO_OPEN} consecutive auth failures; credential is dead until replaced.`,
    };
  }
  const nextTryMs =
    state.probing && state.probeAtMs !== null ? state.probeAtMs + PROBE_LOST_MS : state.openUntilMs;
  if (at.nowMs < nextTryMs) {
    const seconds = Math.ceil((nextTryMs - at.nowMs) / 1000);
    return {
      allow: false,
      error: `ERR:breaker_open:${at.key} — upstream failing; next try in ${seconds}s.`,
    };
  }
  return { allow: true, state: { ...state, probing: true, probeAtMs: at.nowMs } };
}

/** What a run's signal does to the count. `opened` is true for the signal that shuts the row. */
export function afterSignal(
  given: BreakerState | null,
  at: { signal: BreakerSignal; credential: string; nowMs: number },
): { state: BreakerState | null; opened: boolean } {
  const state = currentState(given, at);
  // Nothing is sent while a row is open, so this is the late news of a call admitted before.
  if (state?.openUntilMs != null && at.nowMs < state.openUntilMs) return { state, opened: false };
  switch (at.signal) {
    case "healthy":
      return { state: null, opened: false };
    case "auth": {
      const authFailures = (state?.authFailures ?? 0) + 1;
      const opened = authFailures >= AUTH_FAILURES_TO_OPEN;
      return {
        state: {
          ...counting(at.credential),
          authFailures,
          reason: opened ? "auth" : null,
          openUntilMs: opened ? at.nowMs + AUTH_OPEN_MS : null,
        },
        opened,
      };
    }
    case "transport": {
      const transportFailures = (state?.transportFailures ?? 0) + 1;
      const openings = state?.openings ?? 0;
      if (transportFailures < TRANSPORT_FAILURES_TO_OPEN) {
        return { state: { ...counting(at.credential), transportFailures }, opened: false };
      }
      const openMs = Math.min(TRANSPORT_OPEN_MS * 2 ** openings, TRANSPORT_OPEN_MAX_MS);
      return {
        state: {
          ...counting(at.credential),
          transportFailures,
          reason: "transport",
          openUntilMs: at.nowMs + openMs,
          openings: openings + 1,
        },
        opened: true,
      };
    }
  }
}

/**
 * The state as it holds at this moment for this credential. Another credential forgets what its
 * predecessor did wrong, and an auth opening ends after its hour; an upstream that does not answer is
 * mended by neither.
 */
function currentState(
  state: BreakerState | null,
  at: { credential: string; nowMs: number },
): BreakerState | null {
  if (state === null) return null;
  const replaced = state.credential !== at.credential;
  if (state.reason === "auth") {
    return replaced || state.openUntilMs === null || at.nowMs >= state.openUntilMs ? null : state;
  }
  if (!replaced) return state;
  if (state.transportFailures === 0) return null;
  return { ...state, credential: at.credential, authFailures: 0 };
}

function counting(credential: string): BreakerState {
  return {
    credential,
    authFailures: 0,
    transportFailures: 0,
    reason: null,
    openUntilMs: null,
    openings: 0,
    probing: false,
    probeAtMs: null,
  };
}
