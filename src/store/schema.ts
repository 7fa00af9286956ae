import { sql } from "drizzle-orm";
import { check, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** One row is one callable capability; the columns stand in the order that the API documents. */
export const directory = sqliteTable(
  "directory",
  {
    key: text().primaryKey(),
    type: text().notNull(),
    target: text(),
    auth: text(),
    content: text(),
    updated_at: text().notNull(),
    category: text(),
    allowed_categories: text(),
    seq: integer(),
    enabled: integer().default(1),
    planner_visible: integer().default(1),
    planner_rank: integer().default(100),
    input_schema: text(),
    examples: text(),
    sensitive: integer().default(0),
    runner: text(),
    includes: text(),
    created_at: text(),
  },
  (table) => [check("directory_type", sql`${table.type} in ('fn','http','agent','flow')`)],
);

/**
 * Every state a row has had. The primary key is the optimistic lock of a write: two writers of the same
 * next version cannot both land.
 */
export const directoryVersions = sqliteTable(
  "directory_versions",
  {
    key: text().notNull(),
    version: integer().notNull(),
    action: text().notNull(),
    /** The row as JSON; null for a deletion. */
    row: text(),
    contract: text(),
    principal: text().notNull(),
    /** Id of the DIRECTORY_MUTATE event; the ledger finds by it whether a write landed. */
    receipt_id: text().notNull(),
    at: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.key, table.version] })],
);

/** To which hosts a named secret may go. Every change is a new version of the same name. */
export const secretBindings = sqliteTable(
  "secret_bindings",
  {
    name: text().notNull(),
    version: integer().notNull(),
    /** JSON array of `host` or `host:port`. */
    hosts: text().notNull(),
    /** Id of the SECRET_BIND event. */
    receipt_id: text().notNull(),
    at: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.name, table.version] })],
);
