import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, expect } from "vitest";
import { verifyExport } from "../../src/core/verify.ts";

const { DB, TEST_MIGRATIONS, TERMINAL_KEY } = env as unknown as {
  DB: D1Database;
  TEST_MIGRATIONS: D1Migration[];
  TERMINAL_KEY: string;
};
await applyD1Migrations(DB, TEST_MIGRATIONS);

/** After every test the whole ledger is read again from its first event, as an outsider would. */
afterEach(async () => {
  const headers = { "x-terminal-key": TERMINAL_KEY };
  const answer = await exports.default.fetch("https://example.com/api/ledger/export", { headers });
  const lines = (await answer.text()).trimEnd().split("\n");
  expect(await verifyExport(lines)).toMatchObject({ ok: true });
});
