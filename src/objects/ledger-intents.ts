import type { Recorded } from "../core/call.ts";
import type { LedgerEvent, PackedDraft } from "../core/event.ts";
import { recordedOf, type Log } from "./ledger-log.ts";

/**
 * A write of the directory or of a host binding: intent first (its key is pending, and every call of it
 * reads D1), then the D1 batch, then the confirmation. A crash between leaves a pending key, which costs
 * reads and is settled by the alarm, and never a stale one.
 */
export interface Intent {
  /** Id of the event that will tell of the write, and `receipt_id` of the row in D1. */
  id: string;
  /** That event's packed draft as JSON. */
  draft: string;
  /** Key of a row, or `secret:NAME`. */
  key: string;
  /** The version that the write makes. */
  version: number;
}

/** `unknown`: no such intent and no such event. */
export type Confirmed = { outcome: "recorded"; recorded: Recorded } | { outcome: "unknown" };

/** A writer that lives confirms or abandons sooner than this. */
export const SETTLE_AFTER_MS = 60_000;
/** No D1 batch that has not landed by now will still land. */
export const ABANDON_AFTER_MS = 300_000;

/** What to do with an intent nobody ended. `landed` null: D1 could not be asked. */
export function decideIntent(at: {
  ageMs: number;
  landed: boolean | null;
}): "confirm" | "abandon" | "wait" {
  if (at.landed) return "confirm";
  return at.landed === false && at.ageMs >= ABANDON_AFTER_MS ? "abandon" : "wait";
}

/** When to look again, null when nothing is pending. */
export function nextSettleMs(oldestBegunAtMs: number | null, nowMs: number): number | null {
  if (oldestBegunAtMs === null) return null;
  const dueMs = oldestBegunAtMs + SETTLE_AFTER_MS;
  return dueMs > nowMs ? dueMs : nowMs + SETTLE_AFTER_MS;
}

export function begin(sql: SqlStorage, { id, draft, key, version }: Intent, nowMs: number): void {
  sql.exec(
    "insert or ignore into intents (id, key, version, begun_at_ms, draft) values (?, ?, ?, ?, ?)",
    id,
    key,
    version,
    nowMs,
    draft,
  );
}

/** Inside `atomically`. Idempotent by the event's id. Two writes may be confirmed in either order. */
export function confirm(sql: SqlStorage, log: Log, id: string): Confirmed {
  const [intent] = sql
    .exec<{ key: string; version: number; draft: string }>(
      "select key, version, draft from intents where id = ?",
      id,
    )
    .toArray();
  if (!intent) {
    const event = log.find(id);
    if (event === null) return { outcome: "unknown" };
    return { outcome: "recorded", recorded: recordedOf(JSON.parse(event) as LedgerEvent) };
  }
  const { recorded } = log.append(JSON.parse(intent.draft) as PackedDraft);
  sql.exec(
    `insert into versions (key, version) values (?, ?)
     on conflict (key) do update set version = max(version, excluded.version)`,
    intent.key,
    intent.version,
  );
  abandon(sql, id);
  return { outcome: "recorded", recorded };
}

export function abandon(sql: SqlStorage, id: string): void {
  sql.exec("delete from intents where id = ?", id);
}

/** Settles what is older than a minute, and says when to look again. */
export async function settle(
  sql: SqlStorage,
  log: Log,
  at: {
    landed: (id: string, key: string, version: number) => Promise<boolean | null>;
    now: () => number;
  },
): Promise<number | null> {
  const due = sql
    .exec<{ id: string; key: string; version: number; begun_at_ms: number }>(
      "select id, key, version, begun_at_ms from intents where begun_at_ms <= ? order by begun_at_ms limit 500",
      at.now() - SETTLE_AFTER_MS,
    )
    .toArray();
  for (const { id, key, version, begun_at_ms } of due) {
    const landed = await at.landed(id, key, version);
    const decision = decideIntent({ ageMs: at.now() - begun_at_ms, landed });
    if (decision === "confirm") log.atomically(() => confirm(sql, log, id));
    if (decision === "abandon") abandon(sql, id);
  }
  const { oldest } = sql
    .exec<{ oldest: number | null }>("select min(begun_at_ms) oldest from intents")
    .one();
  return nextSettleMs(oldest, at.now());
}

/** Whether the D1 batch of an intent landed; null when D1 does not answer. */
export async function landedInD1(
  db: D1Database,
  { id, key, version }: { id: string; key: string; version: number },
): Promise<boolean | null> {
  const secret = key.startsWith("secret:") ? key.slice("secret:".length) : null;
  const query =
    secret === null
      ? db
          .prepare("select receipt_id from directory_versions where key = ? and version = ?")
          .bind(key, version)
      : db
          .prepare("select receipt_id from secret_bindings where name = ? and version = ?")
          .bind(secret, version);
  try {
    return (await query.first<string>("receipt_id")) === id;
  } catch (error) {
    console.error(
      JSON.stringify({ level: "error", what: "intent not settled", id, error: String(error) }),
    );
    return null;
  }
}
