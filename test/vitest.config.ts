import path from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

const root = path.join(import.meta.dirname, "..");

/**
 * `core` runs in Node in milliseconds, `worker` in workerd, `e2e` against a real `npm start`. `npm test`
 * runs these three; `corpus` needs public files beside the checkout, `services` Debian packages.
 */
export default defineConfig({
  root,
  test: {
    projects: [
      { root, test: { name: "core", include: ["test/core/**/*.test.ts"], environment: "node" } },
      {
        root,
        plugins: [
          cloudflareTest(async ({ inject }) => ({
            wrangler: { configPath: path.join(root, "wrangler.jsonc") },
            miniflare: {
              bindings: {
                TEST_MIGRATIONS: await readD1Migrations(path.join(root, "migrations")),
                TERMINAL_KEY: "owner-key-of-the-test-deployment",
                ALLOW_PRIVATE_HOSTS: new URL(inject("upstream")).host,
                TEST_BEARER: "s3cr3t-bearer-value",
                TEST_BASIC: "ada:pa:ss",
              },
            },
          })),
        ],
        test: {
          name: "worker",
          include: ["test/worker/**/*.test.ts"],
          setupFiles: ["test/support/worker-setup.ts"],
          globalSetup: ["test/support/upstream-setup.ts"],
          testTimeout: 20_000,
        },
      },
      {
        root,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          environment: "node",
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        root,
        test: {
          name: "corpus",
          include: ["test/corpus/**/*.test.ts"],
          environment: "node",
          testTimeout: 120_000,
        },
      },
      {
        root,
        test: {
          name: "services",
          include: ["test/services/**/*.test.ts"],
          environment: "node",
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
