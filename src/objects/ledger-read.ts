import type { EventKind } from "../core/event.ts";

/** Filters of a list; absent members filter nothing. `since` is inclusive, `until` exclusive, both ISO UTC. */
export interface EventFilter {
  kind?: EventKind;
  key?: string;
  actor?: string;
  trace?: string;
  ok?: boolean;
  since?: string;
  until?: string;
  /** Only events before this seq. */
  before?: number;
  limit: number;
}

/** Bodies newest first. `before` continues; null at the beginning of the log. */
export interface EventPage {
  bodies: string[];
  before: number | null;
}

/**
 * Seqs that one step of a list looks at. The object appends nothing while it reads, so a filter that
 * matches little must not walk a long log in one go.
 */
export const SCAN_EVENTS = 5_000;

/** Characters of bodies in one answer of the object, far below what an RPC carries; one event always fits. */
const MAX_PAGE_CHARS = 2_097_152;

type Bindable = string | number;

/** Fixed text per filter; values are bound. */
const CONDITIONS: { [name in Exclude<keyof EventFilter, "limit" | "before">]: string } = {
  kind: "kind = ?",
  key: "key = ?",
  actor: "actor = ?",
  trace: "trace = ?",
  ok: "ok = ?",
  since: "at >= ?",
  until: "at < ?",
};

export function listEvents(sql: SqlStorage, lastSeq: number, filter: EventFilter): EventPage {
  const before = Math.min(filter.before ?? lastSeq + 1, lastSeq + 1);
  const floor = Math.max(before - SCAN_EVENTS, 1);
  const conditions = ["seq < ?", "seq >= ?"];
  const values: Bindable[] = [before, floor];
  for (const name of Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[]) {
    const value = filter[name];
    if (value === undefined) continue;
    conditions.push(CONDITIONS[name]);
    values.push(typeof value === "boolean" ? Number(value) : value);
  }
  const text = `select seq, body from events where ${conditions.join(" and ")} order by seq desc limit ?`;
  const { rows, cut } = takeBodies(sql, text, [...values, filter.limit]);
  const reached = cut || rows.length === filter.limit ? (rows.at(-1)?.seq ?? floor) : floor;
  return { bodies: rows.map(({ body }) => body), before: reached > 1 ? reached : null };
}

/** Bodies from `afterSeq` on, oldest first, up to `lastSeq`. Seqs have no gap, so the count tells the rest. */
export function exportPage(
  sql: SqlStorage,
  { afterSeq, lastSeq, limit }: { afterSeq: number; lastSeq: number; limit: number },
): string[] {
  const text = "select seq, body from events where seq > ? and seq <= ? order by seq limit ?";
  return takeBodies(sql, text, [afterSeq, lastSeq, limit]).rows.map(({ body }) => body);
}

/** The INVOKE_STARTED of an invocation that has no receipt yet. */
export function findStarted(sql: SqlStorage, invocation: string): string | null {
  const text = `select body from events
    where seq = (select seq from open_invocations where invocation_id = ?)`;
  return sql.exec<{ body: string }>(text, invocation).toArray()[0]?.body ?? null;
}

/** Which invocations corrected this one: computed, since an event in the log never changes. */
export function repairsOf(sql: SqlStorage, id: string): string[] {
  const text = "select id from events where repairs = ? order by seq limit 100";
  return sql
    .exec<{ id: string }>(text, id)
    .toArray()
    .map((row) => row.id);
}

/** Reads rows one by one and stops when the page is full, so that a page of long bodies stays bounded. */
function takeBodies(
  sql: SqlStorage,
  text: string,
  values: Bindable[],
): { rows: { seq: number; body: string }[]; cut: boolean } {
  const rows: { seq: number; body: string }[] = [];
  let chars = 0;
  for (const row of sql.exec<{ seq: number; body: string }>(text, ...values)) {
    if (rows.length > 0 && chars + row.body.length > MAX_PAGE_CHARS) return { rows, cut: true };
    rows.push(row);
    chars += row.body.length;
  }
  return { rows, cut: false };
}
