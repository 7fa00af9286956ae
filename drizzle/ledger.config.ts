import { defineConfig } from "drizzle-kit";

/** SQLite inside LedgerDO: `drizzle-kit generate --config drizzle/ledger.config.ts` writes the bundle. */
export default defineConfig({
  dialect: "sqlite",
  driver: "durable-sqlite",
  schema: "./src/objects/ledger-schema.ts",
  out: "./drizzle/ledger",
  migrations: { prefix: "index" },
});
