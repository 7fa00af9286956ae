import type { Recorded } from "../core/call.ts";
import { chainEvent, GENESIS, type Link } from "../core/chain.ts";
import type { LedgerEvent, PackedDraft } from "../core/event.ts";
import type { Keys } from "./ledger-keys.ts";

/**
 * The one writer of the chain. Reading the head, hashing, signing and inserting are one synchronous block:
 * an `await` between them let two appends chain to the same event. What is answered is durable, since the
 * platform holds every answer of an object back until its writes are.
 */
export interface Log {
  /** Seq and hash of the last event. */
  head(): Link;
  /** Runs `work`, of several writes, whole or not at all; the head in memory never runs ahead of what is stored. */
  atomically<T>(work: () => T): T;
  /** Said twice in a row, an event is answered with what stands there: a caller may not know that it arrived. */
  append(draft: PackedDraft): { recorded: Recorded; added: boolean };
  /** The RFC 8785 form of the event of that id. */
  find(id: string): string | null;
}

const INSERT = `insert into events (seq, id, kind, key, actor, trace, ok, at, repairs, body)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/**
 * Ids of the newest events wait in memory until there are so many, and enter their index together. An index
 * entry of its own would cost an append as much as the event: one more page written. The index is derived
 * from the log, so a crash loses nothing: what is missing in it is read from the log again.
 */
const INDEX_TOGETHER = 128;

export function openLog(storage: DurableObjectStorage, keys: Keys): Log {
  const { sql } = storage;
  let head = readHead(sql);
  let unindexed = readUnindexed(sql);

  function append(draft: PackedDraft): { recorded: Recorded; added: boolean } {
    const { id, kind, key, actor, trace, ok, at, repairs } = draft;
    const standing = unindexed.has(id) ? find(id) : null;
    if (standing !== null) return { recorded: recordedOf(JSON.parse(standing)), added: false };
    const { seq, hash, signature, form } = chainEvent(draft, {
      seq: head.seq + 1,
      prev: head.hash,
      ...keys.current(),
    });
    const flag = ok === null ? null : Number(ok);
    sql.exec(INSERT, seq, id, kind, key, actor, trace, flag, at, repairs, form);
    head = { seq, hash };
    unindexed.set(id, seq);
    if (unindexed.size >= INDEX_TOGETHER) indexAll();
    return { recorded: { seq, at, hash, signature }, added: true };
  }

  function indexAll(): void {
    for (const [id, seq] of unindexed)
      sql.exec("insert or ignore into event_ids values (?, ?)", id, seq);
    unindexed.clear();
  }

  function find(id: string): string | null {
    const seq = unindexed.get(id);
    const found =
      seq === undefined
        ? sql.exec<{ body: string }>(BY_ID, id).toArray()
        : sql.exec<{ body: string }>("select body from events where seq = ?", seq).toArray();
    return found[0]?.body ?? null;
  }

  return {
    head: () => head,
    append,
    find,
    atomically: (work) => {
      try {
        return storage.transactionSync(work);
      } catch (error) {
        head = readHead(sql);
        unindexed = readUnindexed(sql);
        throw error;
      }
    },
  };
}

const BY_ID = "select body from events where seq = (select seq from event_ids where id = ?)";

function readUnindexed(sql: SqlStorage): Map<string, number> {
  const newest = `select id, seq from events
    where seq > coalesce((select seq from event_ids order by rowid desc limit 1), 0) order by seq`;
  return new Map(
    sql
      .exec<{ id: string; seq: number }>(newest)
      .toArray()
      .map(({ id, seq }) => [id, seq]),
  );
}

export function recordedOf({ seq, at, hash, signature }: LedgerEvent): Recorded {
  return { seq, at, hash, signature };
}

function readHead(sql: SqlStorage): Link {
  const [last] = sql
    .exec<{ body: string }>("select body from events order by seq desc limit 1")
    .toArray();
  if (!last) return GENESIS;
  const { seq, hash } = JSON.parse(last.body) as LedgerEvent;
  return { seq, hash };
}
