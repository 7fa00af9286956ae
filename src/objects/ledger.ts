import { DurableObject } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/durable-sqlite";
import { migrate } from "drizzle-orm/durable-sqlite/migrator";
import migrations from "../../drizzle/ledger/migrations.js";
import { signHead, type Jwks, type SignedHead } from "../core/chain.ts";
import type { Admission, Appended, Guard } from "../dispatch/ports.ts";
import { admit, append, resetBreaker } from "./ledger-guard.ts";
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

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    void ctx.blockConcurrencyWhile(async () => {
      await migrate(drizzle(ctx.storage), migrations);
      this.#keys = openKeys(ctx.storage);
      this.#log = openLog(ctx.storage, this.#keys);
    });
  }

  admit(guard: Guard, started: string | null): Admission {
    const draft = started === null ? null : readDraft(started);
    const at = { guard, started: draft, nowMs: Date.now() };
    return this.#log.atomically(() => admit(this.#sql, this.#log, at));
  }

  append(text: string, guard: Guard | null): Appended {
    const at = { draft: readDraft(text), guard, nowMs: Date.now() };
    return this.#log.atomically(() => append(this.#sql, this.#log, at));
  }

  resetBreaker(key: string): void {
    resetBreaker(this.#sql, key);
  }

  /** Resolves when the intent is durable and an alarm will settle it if its writer dies. */
  async begin(intent: Intent): Promise<void> {
    begin(this.#sql, intent, Date.now());
    if ((await this.ctx.storage.getAlarm()) === null) {
      await this.ctx.storage.setAlarm(Date.now() + SETTLE_AFTER_MS);
    }
  }

  confirm(id: string): Confirmed {
    return this.#log.atomically(() => confirm(this.#sql, this.#log, id));
  }

  abandon(id: string): void {
    abandon(this.#sql, id);
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
    if (nextMs !== null) await this.ctx.storage.setAlarm(nextMs);
  }
}
