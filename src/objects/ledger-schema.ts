import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * The log itself, append-only. A trigger takes no event but the next one, so that a fork is impossible
 * whatever the code does, and another lets none be changed. `body` is the RFC 8785 form of the whole event;
 * the columns before it are copies to filter by, and reading them touches no page of a long body. An index
 * would cost every append a page: ids have theirs in `event_ids`, a list walks the log backwards in bounded
 * steps, and search over all of it belongs to the projection in D1.
 */
export const events = sqliteTable(
  "events",
  {
    seq: integer().primaryKey(),
    id: text().notNull(),
    kind: text().notNull(),
    key: text(),
    actor: text().notNull(),
    trace: text(),
    /** 1 or 0 for an INVOKE, null for what neither succeeds nor fails. */
    ok: integer(),
    at: text().notNull(),
    repairs: text(),
    body: text().notNull(),
  },
  (table) => [
    index("events_repairs")
      .on(table.repairs)
      .where(sql`${table.repairs} is not null`),
  ],
);

/** Where the event of an id stands. Filled many at a time: the newest ids are in the object's memory only. */
export const eventIds = sqliteTable("event_ids", {
  id: text().primaryKey(),
  seq: integer().notNull(),
});

/** Invocations whose receipt has not come yet: the seq of their INVOKE_STARTED. As many rows as run now. */
export const openInvocations = sqliteTable("open_invocations", {
  invocation_id: text().primaryKey(),
  seq: integer().notNull(),
});

/** Version of each key that was ever written through here; `secret:NAME` keys are host bindings. */
export const versions = sqliteTable("versions", {
  key: text().primaryKey(),
  version: integer().notNull(),
});

/** Writes under way in D1. A key with a row here is pending: every call of it reads D1. */
export const intents = sqliteTable(
  "intents",
  {
    /** Id of the event that will tell of the write. */
    id: text().primaryKey(),
    key: text().notNull(),
    version: integer().notNull(),
    begun_at_ms: integer().notNull(),
    /** The event's draft as JSON. */
    draft: text().notNull(),
  },
  (table) => [index("intents_key").on(table.key)],
);

/** Circuit breakers that have counted a failure; a healthy answer removes the row. */
export const breakers = sqliteTable("breakers", {
  key: text().primaryKey(),
  state: text().notNull(),
  /** 1 once the KV key stands that an operator deletes: only from then on does its absence mean anything. */
  marked: integer().notNull().default(0),
});

/** Signing keys. The private half is erased at rotation; the public half stays, to verify what it signed. */
export const signingKeys = sqliteTable("signing_keys", {
  kid: text().primaryKey(),
  x: text().notNull(),
  /** The private member `d` of the JWK, null once retired. */
  d: text(),
});
