import { defineConfig } from "drizzle-kit";

/** D1: `npm run db:generate` writes migrations/, wrangler applies them. */
export default defineConfig({
  dialect: "sqlite",
  schema: "./src/store/schema.ts",
  out: "./migrations",
  migrations: { prefix: "index" },
});
