import { admitCall, afterSignal, type BreakerState } from "../core/breaker.ts";
import { sha256Hex } from "../core/canonical.ts";
import type { EventDraft } from "../core/event.ts";
import type { Admission, Appended, Guard } from "../dispatch/ports.ts";
import type { Log } from "./ledger-log.ts";

const STALE = `select 1 from versions where key = ?1 and version <> ?2
  union all select 1 from intents where key = ?1 limit 1`;

/**
 * Whether a call ran on what an isolate remembered and something newer stands, or may stand, in D1. A key
 * that was never written through this ledger has no other version.
 */
function isStale(sql: SqlStorage, guard: Guard | null): boolean {
  if (!guard || guard.fresh) return false;
  return guard.claims.some(
    ({ key, version }) => sql.exec(STALE, key, version).toArray().length > 0,
  );
}

/** Guard and event in one step; a refused call leaves no event. */
export function admit(
  sql: SqlStorage,
  log: Log,
  { guard, started, nowMs }: { guard: Guard; started: EventDraft | null; nowMs: number },
): Admission {
  if (isStale(sql, guard)) return { outcome: "stale" };
  if (guard.breaker) {
    const { key, credential } = guard.breaker;
    const before = readBreaker(sql, key);
    const verdict = admitCall(before, { key, credential, nowMs });
    if (!verdict.allow) return { outcome: "open", error: verdict.error };
    writeBreaker(sql, key, before, verdict.state);
  }
  if (started) log.append(started);
  return { outcome: "admitted" };
}

/** The receipt and what it tells the row's breaker in one step, so that a count is never lost or doubled. */
export function append(
  sql: SqlStorage,
  log: Log,
  { draft, guard, nowMs }: { draft: EventDraft; guard: Guard | null; nowMs: number },
): Appended {
  if (isStale(sql, guard)) return { outcome: "stale" };
  const { recorded, added } = log.append(draft);
  if (!guard?.breaker) return { outcome: "appended", recorded, opened: false, watched: false };
  const { key, credential, signal } = guard.breaker;
  const before = readBreaker(sql, key);
  if (!signal || !added)
    return { outcome: "appended", recorded, opened: false, watched: before !== null };
  const { state, opened } = afterSignal(before, { signal, credential, nowMs });
  writeBreaker(sql, key, before, state);
  if (opened) log.append(breakerOpen(draft, key, signal));
  return { outcome: "appended", recorded, opened, watched: state !== null };
}

export function resetBreaker(sql: SqlStorage, key: string): void {
  sql.exec("delete from breakers where key = ?", key);
}

/** Its id follows from the receipt that opened the breaker: one receipt opens it once. */
function breakerOpen({ id, at, via, trace }: EventDraft, key: string, reason: string): EventDraft {
  const shard = id.split("_")[1] ?? "0";
  return {
    id: `evt_${shard}_${sha256Hex(`BREAKER_OPEN ${id}`).slice(0, 16)}`,
    kind: "BREAKER_OPEN",
    at,
    actor: "engine",
    via,
    key,
    trace,
    parent: id,
    data: { reason },
  };
}

function readBreaker(sql: SqlStorage, key: string): BreakerState | null {
  const [row] = sql
    .exec<{ state: string }>("select state from breakers where key = ?", key)
    .toArray();
  return row ? (JSON.parse(row.state) as BreakerState) : null;
}

/** Nearly every call finds no state and leaves none: that writes nothing. */
function writeBreaker(
  sql: SqlStorage,
  key: string,
  before: BreakerState | null,
  after: BreakerState | null,
): void {
  if (after) sql.exec("insert or replace into breakers values (?, ?)", key, JSON.stringify(after));
  else if (before) resetBreaker(sql, key);
}
