import { admitCall, afterSignal, type BreakerState } from "../core/breaker.ts";
import { sha256Hex } from "../core/canonical.ts";
import type { EventDraft } from "../core/event.ts";
import type { Admission, Appended, Guard } from "../dispatch/ports.ts";
import type { Log } from "./ledger-log.ts";
import type { Versions } from "./ledger-versions.ts";

/** What of the object a guarded step works on. */
export interface Shelf {
  sql: SqlStorage;
  log: Log;
  versions: Versions;
}

function isStale(versions: Versions, guard: Guard | null): boolean {
  return guard !== null && !guard.fresh && versions.isStale(guard.claims);
}

/** Guard and event in one step; a refused call leaves no event. */
export function admit(
  { sql, log, versions }: Shelf,
  { guard, started, nowMs }: { guard: Guard; started: EventDraft | null; nowMs: number },
): Admission {
  if (isStale(versions, guard)) return { outcome: "stale" };
  if (guard.breaker) {
    const { key, credential } = guard.breaker;
    const before = readBreaker(sql, key);
    const verdict = admitCall(before, { key, credential, nowMs });
    if (!verdict.allow) return { outcome: "open", error: verdict.error };
    writeBreaker(sql, key, before, verdict.state);
  }
  if (started) {
    const { recorded } = log.append(started);
    sql.exec(
      "insert or ignore into open_invocations values (?, ?)",
      openedBy(started),
      recorded.seq,
    );
  }
  return { outcome: "admitted" };
}

/** The receipt and what it tells the row's breaker in one step, so that a count is never lost or doubled. */
export function append(
  { sql, log, versions }: Shelf,
  { draft, guard, nowMs }: { draft: EventDraft; guard: Guard | null; nowMs: number },
): Appended {
  if (isStale(versions, guard)) return { outcome: "stale" };
  const { recorded, added } = log.append(draft);
  if (guard?.started) sql.exec("delete from open_invocations where invocation_id = ?", draft.id);
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

/** An invocation is open from its INVOKE_STARTED until its INVOKE. */
function openedBy({ data, id }: EventDraft): string {
  return typeof data.invocation_id === "string" ? data.invocation_id : id;
}

/** True when such an append is one write and nothing else. */
export function isSingleWrite(guard: Guard | null): boolean {
  return !guard?.breaker && !guard?.started;
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
