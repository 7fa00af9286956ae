import type { Recorded } from "../core/call.ts";
import { sha256Hex } from "../core/canonical.ts";
import { chainEvent, GENESIS, type Link } from "../core/chain.ts";
import type { EventDraft, LedgerEvent } from "../core/event.ts";
import type { Json } from "../core/json.ts";
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
  /** One write. An id that the log holds already is answered with what stands there. */
  append(draft: EventDraft): { recorded: Recorded; added: boolean };
}

/** A value of the object's SQLite may have 2 MB; an event stays well below. */
const MAX_DRAFT_BYTES = 1_048_576;

/** Compact JSON of one member that is left whole in data which as a whole is too large. */
const MAX_MEMBER_BYTES = 16_384;

const INSERT = `insert into events (seq, id, prev, kind, key, actor, trace, ok, at, repairs, body)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`;

export function openLog(storage: DurableObjectStorage, keys: Keys): Log {
  const { sql } = storage;
  let head = readHead(sql);

  function append(draft: EventDraft): { recorded: Recorded; added: boolean } {
    const signer = keys.current();
    const { event, form } = chainEvent(draft, { seq: head.seq + 1, prev: head.hash, ...signer });
    const { seq, id, prev, kind, key, actor, trace, at, data, hash } = event;
    const ok = typeof data.ok === "boolean" ? Number(data.ok) : null;
    const repairs = typeof data.repairs === "string" ? data.repairs : null;
    const row = [seq, id, prev, kind, key, actor, trace, ok, at, repairs, form];
    if (sql.exec(INSERT, ...row).rowsWritten === 0)
      return { recorded: standing(id), added: false };
    head = { seq, hash };
    return { recorded: recordedOf(event), added: true };
  }

  function standing(id: string): Recorded {
    const { body } = sql.exec<{ body: string }>("select body from events where id = ?", id).one();
    return recordedOf(JSON.parse(body) as LedgerEvent);
  }

  return {
    head: () => head,
    append,
    atomically: (work) => {
      try {
        return storage.transactionSync(work);
      } catch (error) {
        head = readHead(sql);
        throw error;
      }
    },
  };
}

export function recordedOf({ seq, at, hash, signature }: LedgerEvent): Recorded {
  return { seq, at, hash, signature };
}

/**
 * Reads a draft as it crossed the RPC boundary: as JSON, since structured clone refuses objects without a
 * prototype. One that is too large for a row keeps its small members; of each large one the log keeps size
 * and hash. So no caller can bring an append to fail by what it sends.
 */
export function readDraft(text: string): EventDraft {
  const draft = JSON.parse(text) as EventDraft;
  if (Buffer.byteLength(text) <= MAX_DRAFT_BYTES) return draft;
  const members = Object.entries(draft.data).map(([name, value]): [string, Json] => {
    const member = JSON.stringify(value);
    const bytes = Buffer.byteLength(member);
    return [
      name,
      bytes <= MAX_MEMBER_BYTES ? value : { omitted: { bytes, sha256: sha256Hex(member) } },
    ];
  });
  return { ...draft, data: Object.fromEntries(members) };
}

function readHead(sql: SqlStorage): Link {
  const [last] = sql
    .exec<{ body: string }>("select body from events order by seq desc limit 1")
    .toArray();
  if (!last) return GENESIS;
  const { seq, hash } = JSON.parse(last.body) as LedgerEvent;
  return { seq, hash };
}
