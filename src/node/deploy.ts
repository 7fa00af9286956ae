/**
 * `npm run deploy`: puts rowcall on the Cloudflare account that wrangler is signed in to. wrangler.jsonc
 * names local stand-ins for D1 and KV; a deployment leaves their ids out, so wrangler finds or creates
 * them by name. With `--dry-run` nothing leaves the machine.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { filesUnder, productSource, wranglerDryRun } from "./bundle.ts";

const ROOT = path.join(import.meta.dirname, "..", "..");
const WRANGLER = path.join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");

/** A larger script starts more slowly and leaves less room under the platform's limit. */
const MAX_GZIP_BYTES = 1_200_000;

/** Asked for when the deployment lacks them. */
const SECRETS = ["TERMINAL_KEY", "MCP_TOKEN"] as const;

const size = await measure();
console.log(`bundle ${size} bytes gzip, at most ${MAX_GZIP_BYTES}`);
if (size > MAX_GZIP_BYTES) fail("the bundle is too large");
if (process.argv.includes("--dry-run")) console.log("dry run: nothing was deployed");
else await deploy();

async function measure(): Promise<number> {
  const out = mkdtempSync(path.join(tmpdir(), "rowcall-deploy-"));
  try {
    await wranglerDryRun(productSource(ROOT), out);
    const uploaded = filesUnder(out).filter((file) => !/\.map$|README\.md$/.test(file));
    return uploaded.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

async function deploy(): Promise<void> {
  const { unstable_readConfig: readConfig } = await import("wrangler");
  const { d1_databases, kv_namespaces } = readConfig({ config: path.join(ROOT, "wrangler.jsonc") });
  const text = stripIds(readFileSync(path.join(ROOT, "wrangler.jsonc"), "utf8"), [
    ...d1_databases.map((item: { database_id?: string }) => item.database_id),
    ...kv_namespaces.map((item: { id?: string }) => item.id),
  ]);
  // Beside the original: the paths in it are relative to where it lies.
  const config = path.join(ROOT, "wrangler.deploy.jsonc");
  writeFileSync(config, text);
  try {
    run(["deploy", "--config", config]);
    run(["d1", "migrations", "apply", "DB", "--remote", "--config", config]);
    for (const name of missingSecrets(config)) run(["secret", "put", name, "--config", config]);
  } finally {
    rmSync(config, { force: true });
  }
}

/** Drops `"id"` and `"database_id"` members that hold one of the given values; comments stay. */
function stripIds(text: string, ids: (string | undefined)[]): string {
  return text.replace(/,?\s*"(?:database_id|id)"\s*:\s*"([^"]*)"/g, (member, id: string) =>
    ids.includes(id) ? "" : member,
  );
}

function missingSecrets(config: string): string[] {
  const listed = spawnSync(
    process.execPath,
    [WRANGLER, "secret", "list", "--format", "json", "--config", config],
    { cwd: ROOT, encoding: "utf8" },
  );
  if (listed.status !== 0) fail(listed.stderr);
  const present = (JSON.parse(listed.stdout) as { name: string }[]).map(({ name }) => name);
  return SECRETS.filter((name) => !present.includes(name));
}

function run(args: string[]): void {
  const { status } = spawnSync(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    stdio: "inherit",
  });
  if (status !== 0) fail(`wrangler ${args[0]} failed`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
