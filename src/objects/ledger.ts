import { DurableObject } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/durable-sqlite";
import { migrate } from "drizzle-orm/durable-sqlite/migrator";
import migrations from "../../drizzle/ledger/migrations.js";
import { signHead, type Jwks, type SignedHead } from "../core/chain.ts";
import type { Admission, Appended } from "../dispatch/ports.ts";
import { admit, append, markBreaker, resetBreaker, type Shelf } from "./ledger-guard.ts";
import {
  abandon,
  begin,
  confirm,
  landedInD1,
  SETTLE_AFTER_MS,
  settle,
  type Confirmed,
  type Intent,
} from "./ledger-intents.ts";
import { openKeys, type Keys } from "./ledger-keys.ts";
import { openLog, type Log } from "./ledger-log.ts";
import { readParcel } from "./ledger-parcel.ts";
import { openVersions, type Versions } from "./ledger-versions.ts";
import {
  exportPage,
  findStarted,
  listEvents,
  repairsOf,
  type EventFilter,
  type EventPage,
} from "./ledger-read.ts";

/**
 * One shard of the ledger (SPEC §7): the only writer of its chain, and the memory of what a call must not
 * be allowed to outrun (versions, pending writes, breakers). A table of contents over its neighbours; each
 * method is one synchronous step and answers with a tagged value. Events come and go as text; stubs.ts
 * writes and reads them.
 */
export class LedgerDO extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  #keys!: Keys;
  #log!: Log;
  #versions!: Versions;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    void ctx.blockConcurrencyWhile(async () => {
      await migrate(drizzle(ctx.storage), migrations);
      this.#keys = openKeys(ctx.storage);
      this.#log = openLog(ctx.storage, this.#keys);
      this.#versions = openVersions(ctx.storage.sql);
    });
  }

  get #shelf(): Shelf {
    return { sql: this.#sql, log: this.#log, versions: this.#versions };
  }

  /**
   * Texts cross the boundary, both ways, for a fraction of what objects cost: `head` is JSON of the guard
   * and of the draft without its data, `data` the draft's data, null when there is no draft.
   */
  admit(head: string, data: string | null): string {
    const { guard, draft } = readParcel(head, data);
    if (!guard) throw new Error("nothing to admit by");
    const at = { guard, started: draft, nowMs: Date.now() };
    const admission: Admission = this.#log.atomically(() => admit(this.#shelf, at));
    return JSON.stringify(admission);
  }

  append(head: string, data: string): string {
    const { guard, draft } = readParcel(head, data);
    if (!draft) throw new Error("nothing to append");
    const appended: Appended = append(this.#shelf, { draft, guard, nowMs: Date.now() });
    return JSON.stringify(appended);
  }

  markBreaker(key: string): void {
    markBreaker(this.#sql, key);
  }

  resetBreaker(key: string): void {
    resetBreaker(this.#sql, key);
  }

  /** Resolves when the intent is durable and an alarm will settle it if its writer dies. */
  async begin(intent: Intent): Promise<void> {
    begin(this.#sql, intent, Date.now());
    this.#versions.changed();
    if ((await this.ctx.storage.getAlarm()) === null) {
      await this.ctx.storage.setAlarm(Date.now() + SETTLE_AFTER_MS);
    }
  }

  confirm(id: string): Confirmed {
    this.#versions.changed();
    return this.#log.atomically(() => confirm(this.#sql, this.#log, id));
  }

  abandon(id: string): void {
    abandon(this.#sql, id);
    this.#versions.changed();
  }

  /** The event of that id; for an invocation that has only started, its INVOKE_STARTED. */
  find(id: string): string | null {
    return this.#log.find(id) ?? findStarted(this.#sql, id);
  }

  receipt(id: string): { body: string; repairedBy: string[] } | null {
    const body = this.find(id);
    return body === null ? null : { body, repairedBy: repairsOf(this.#sql, id) };
  }

  list(filter: EventFilter): EventPage {
    return listEvents(this.#sql, this.#log.head().seq, filter);
  }

  exportPage(page: { afterSeq: number; lastSeq: number; limit: number }): string[] {
    return exportPage(this.#sql, page);
  }

  head(): SignedHead {
    const { seq, hash } = this.#log.head();
    const at = new Date().toISOString();
    return signHead(
      { origin: `rowcall/${this.ctx.id.name}`, size: seq, hash, at },
      this.#keys.current(),
    );
  }

  jwks(): Jwks {
    return this.#keys.jwks();
  }

  rotate(): { kid: string } {
    const { kid } = this.#keys.rotate();
    return { kid };
  }

  override async alarm(): Promise<void> {
    const nextMs = await settle(this.#sql, this.#log, {
      landed: (id, key, version) => landedInD1(this.env.DB, { id, key, version }),
      now: Date.now,
    });
    this.#versions.changed();
    if (nextMs !== null) await this.ctx.storage.setAlarm(nextMs);
  }
}
