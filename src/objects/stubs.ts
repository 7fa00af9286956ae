import type { Recorded } from "../core/call.ts";
import { packDraft, type Jwks, type SignedHead } from "../core/chain.ts";
import type { EventDraft, LedgerEvent } from "../core/event.ts";
import {
  LedgerUnavailable,
  type Admission,
  type Appended,
  type Ledger,
} from "../dispatch/ports.ts";
import { packParcel } from "./ledger-parcel.ts";
import type { EventFilter } from "./ledger-read.ts";
import type { LedgerDO } from "./ledger.ts";

/** The one shard there is; ids name it, as in `inv_0_…`. */
export const SHARD = "0";

/** Steps of the log that one list may look at: 200,000 events. Then the caller gets what was found. */
const MAX_LIST_STEPS = 40;

/** Characters of bodies at which a list ends its page: it is held in memory whole. */
const MAX_LIST_CHARS = 8_388_608;

/** The id of a name is a hash of it, made once; `.name` stays known to the object. */
const ids = new WeakMap<Env["LEDGER"], DurableObjectId>();

/** Every address of an object in this program is made here. A stub is cheap, and a broken one never heals. */
export function ledgerStub(env: Env): DurableObjectStub<LedgerDO> {
  const namespace = env.LEDGER;
  let id = ids.get(namespace);
  if (!id) ids.set(namespace, (id = namespace.idFromName(SHARD)));
  return namespace.get(id);
}

export function ledgerPort(env: Env): Ledger {
  return {
    admit: async (guard, started) => {
      const { head, data } = packParcel(guard, started && packDraft(started));
      return JSON.parse(await answered(ledgerStub(env).admit(head, data))) as Admission;
    },
    append: async (draft, guard) => {
      const { head, data } = packParcel(guard, packDraft(draft));
      return JSON.parse(await answered(ledgerStub(env).append(head, data ?? "{}"))) as Appended;
    },
    find: async (id) => {
      const body = await answered(ledgerStub(env).find(id));
      return body === null ? null : eventOf(body);
    },
    markBreaker: (key) => answered(ledgerStub(env).markBreaker(key)),
    resetBreaker: (key) => answered(ledgerStub(env).resetBreaker(key)),
  };
}

/**
 * An event exactly as it was signed. `repaired_by`, which no event can hold, stands in it only when there
 * is one: otherwise the answer can be hashed as it is.
 */
export type Receipt = LedgerEvent & { repaired_by?: string[] };

/** `before` continues the list; null when the log has no more. A page may be short and still go on. */
export interface EventList {
  events: LedgerEvent[];
  before: number | null;
}

/** The ledger as management sees it. Every method throws LedgerUnavailable when the object fails. */
export interface LedgerAdmin {
  /**
   * Before the D1 batch: `key` (of a row, or `secret:NAME`) is pending from here on. `version` is the one
   * that the write makes, and the draft's id the `receipt_id` of the row it leaves in D1.
   */
  begin(intent: { draft: EventDraft; key: string; version: number }): Promise<void>;
  /** After the batch landed. Idempotent by the event's id; an id that was never begun is a fault. */
  confirm(id: string): Promise<Recorded>;
  /** Only when the batch is known not to have landed. In doubt leave it: the alarm asks D1. */
  abandon(id: string): Promise<void>;
  receipt(id: string): Promise<Receipt | null>;
  list(filter: EventFilter): Promise<EventList>;
  /** Events as lines, oldest first, `afterSeq` < seq <= `lastSeq`; a page, never empty before `lastSeq`. */
  exportPage(page: { afterSeq: number; lastSeq: number; limit: number }): Promise<string[]>;
  head(): Promise<SignedHead>;
  jwks(): Promise<Jwks>;
  rotate(): Promise<{ kid: string }>;
}

export function ledgerAdmin(env: Env): LedgerAdmin {
  return {
    begin: ({ draft, key, version }) =>
      answered(
        ledgerStub(env).begin({
          id: draft.id,
          draft: JSON.stringify(packDraft(draft)),
          key,
          version,
        }),
      ),
    confirm: async (id) => {
      const confirmed = await answered(ledgerStub(env).confirm(id));
      if (confirmed.outcome === "unknown") throw new Error(`no intent ${id}`);
      return confirmed.recorded;
    },
    abandon: (id) => answered(ledgerStub(env).abandon(id)),
    receipt: async (id) => {
      const found = await answered(ledgerStub(env).receipt(id));
      return (
        found && {
          ...eventOf(found.body),
          ...(found.repairedBy.length > 0 && { repaired_by: found.repairedBy }),
        }
      );
    },
    list: (filter) => list(env, filter),
    exportPage: (page) => answered(ledgerStub(env).exportPage(page)),
    head: () => answered(ledgerStub(env).head()),
    jwks: () => answered(ledgerStub(env).jwks()),
    rotate: () => answered(ledgerStub(env).rotate()),
  };
}

/** Steps backwards until the page is full; between two steps the object serves appends. */
async function list(env: Env, filter: EventFilter): Promise<EventList> {
  const events: LedgerEvent[] = [];
  let { before } = filter;
  let chars = 0;
  for (let step = 0; step < MAX_LIST_STEPS; step++) {
    const rest = { ...filter, limit: filter.limit - events.length };
    if (before !== undefined) rest.before = before;
    const page = await answered(ledgerStub(env).list(rest));
    for (const body of page.bodies) {
      events.push(eventOf(body));
      chars += body.length;
    }
    if (page.before === null) return { events, before: null };
    before = page.before;
    if (events.length >= filter.limit || chars >= MAX_LIST_CHARS) break;
  }
  return { events, before: before ?? null };
}

function eventOf(body: string): LedgerEvent {
  return JSON.parse(body) as LedgerEvent;
}

/** RPC strips an error's class, so whatever an object throws becomes the one fault that callers know. */
async function answered<P extends Promise<unknown>>(reply: P): Promise<Awaited<P>> {
  try {
    return await reply;
  } catch (cause) {
    throw new LedgerUnavailable("the ledger's object did not answer", { cause });
  }
}
