import { admitCall, afterSignal, type BreakerState } from "../core/breaker.ts";
import { sha256Hex } from "../core/canonical.ts";
import { packDraft } from "../core/chain.ts";
import type { PackedDraft } from "../core/event.ts";
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
  { guard, started, nowMs }: { guard: Guard; started: PackedDraft | null; nowMs: number },
): Admission {
  if (isStale(versions, guard)) return { outcome: "stale" };
  if (guard.breaker) {
    const { key, credential } = guard.breaker;
    const before = readBreaker(sql, key);
    const verdict = admitCall(before, { key, credential, nowMs });
    if (!verdict.allow) {
      return { outcome: "open", error: verdict.error, marked: isMarked(sql, key) };
    }
    writeBreaker(sql, key, before, verdict.state);
  }
  if (started) {
    const { recorded } = log.append(started);
    const { opens, id } = started;
    sql.exec("insert or ignore into open_invocations values (?, ?)", opens ?? id, recorded.seq);
  }
  return { outcome: "admitted" };
}

/** The receipt and what it tells the row's breaker in one step, so that a count is never lost or doubled. */
export function append(
  { sql, log, versions }: Shelf,
  { draft, guard, nowMs }: { draft: PackedDraft; guard: Guard | null; nowMs: number },
): Appended {
  if (isStale(versions, guard)) return { outcome: "stale" };
  const counted = guard?.breaker ? countSignal(sql, guard.breaker, nowMs) : NOTHING_COUNTED;
  const write = (): Appended => {
    const { recorded, added } = log.append(draft);
    const watched = counted.after !== null;
    if (!added) return { outcome: "appended", recorded, opened: false, watched };
    if (guard?.started) sql.exec("delete from open_invocations where invocation_id = ?", draft.id);
    if (guard?.breaker) writeBreaker(sql, guard.breaker.key, counted.before, counted.after);
    if (counted.opened) log.append(breakerOpen(draft, guard!.breaker!));
    return { outcome: "appended", recorded, opened: counted.opened, watched };
  };
  const isOneWrite = !guard?.started && counted.before === null && counted.after === null;
  return isOneWrite ? write() : log.atomically(write);
}

interface Counted {
  before: BreakerState | null;
  after: BreakerState | null;
  opened: boolean;
}

const NOTHING_COUNTED: Counted = { before: null, after: null, opened: false };

function countSignal(
  sql: SqlStorage,
  { key, credential, signal }: NonNullable<Guard["breaker"]>,
  nowMs: number,
): Counted {
  const before = readBreaker(sql, key);
  if (!signal) return { before, after: before, opened: false };
  const { state, opened } = afterSignal(before, { signal, credential, nowMs });
  return { before, after: state, opened };
}

export function markBreaker(sql: SqlStorage, key: string): void {
  sql.exec("update breakers set marked = 1 where key = ?", key);
}

export function resetBreaker(sql: SqlStorage, key: string): void {
  sql.exec("delete from breakers where key = ?", key);
}

/** Its id follows from the receipt that opened the breaker: one receipt opens it once. */
function breakerOpen(
  { id, at, via, trace }: PackedDraft,
  { key, signal }: NonNullable<Guard["breaker"]>,
): PackedDraft {
  const shard = id.split("_")[1] ?? "0";
  return packDraft({
    id: `evt_${shard}_${sha256Hex(`BREAKER_OPEN ${id}`).slice(0, 16)}`,
    kind: "BREAKER_OPEN",
    at,
    actor: "engine",
    via,
    key,
    trace,
    parent: id,
    data: { reason: signal ?? null },
  });
}

const KEEP_BREAKER = `insert into breakers (key, state) values (?, ?)
  on conflict (key) do update set state = excluded.state`;

function isMarked(sql: SqlStorage, key: string): boolean {
  const text = "select 1 from breakers where key = ? and marked = 1";
  return sql.exec(text, key).toArray().length > 0;
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
  if (after) sql.exec(KEEP_BREAKER, key, JSON.stringify(after));
  else if (before) resetBreaker(sql, key);
}
