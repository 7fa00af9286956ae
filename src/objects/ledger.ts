import { DurableObject } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/durable-sqlite";
import { migrate } from "drizzle-orm/durable-sqlite/migrator";
import migrations from "../../drizzle/ledger/migrations.js";
import { signHead, type Jwks, type SignedHead } from "../core/chain.ts";
import type { Admission, Appended, Guard } from "../dispatch/ports.ts";
import { admit, append, isSingleWrite, resetBreaker, type Shelf } from "./ledger-guard.ts";
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
import { openLog, readDraft, type Log } from "./ledger-log.ts";
import { openVersions, type Versions } from "./ledger-versions.ts";
import {
  exportPage,
  findBody,
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

  /** Both values as JSON: a text crosses the boundary for a fraction of what an object costs. */
  admit(guardText: string, startedText: string | null): Admission {
    const guard = JSON.parse(guardText) as Guard;
    const started = startedText === null ? null : readDraft(startedText);
    return this.#log.atomically(() => admit(this.#shelf, { guard, started, nowMs: Date.now() }));
  }

  append(draftText: string, guardText: string | null): Appended {
    const guard = guardText === null ? null : (JSON.parse(guardText) as Guard);
    const draft = readDraft(draftText);
    const work = (): Appended => append(this.#shelf, { draft, guard, nowMs: Date.now() });
    return isSingleWrite(guard) ? work() : this.#log.atomically(work);
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

  find(id: string): string | null {
    return findBody(this.#sql, id);
  }

  receipt(id: string): { body: string; repairedBy: string[] } | null {
    const body = findBody(this.#sql, id);
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
