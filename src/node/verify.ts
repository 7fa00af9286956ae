/**
 * `npm run verify -- FILE|URL|- [--key OWNERKEY] [--jwks FILE|URL] [--receipt]`: checks an export of the
 * ledger, or one receipt, without asking the deployment anything more. Exit 0 and the count, or 1 and why.
 */
import { createReadStream } from "node:fs";
import { parseArgs } from "node:util";
import { CanonicalError, parseUnambiguous } from "../core/canonical.ts";
import { readJwks, type PublicKeys } from "../core/chain.ts";
import { linesOf, verifyExport, verifyReceipt, type Verdict } from "../core/verify.ts";

const USAGE = "usage: npm run verify -- FILE|URL|- [--key OWNERKEY] [--jwks FILE|URL] [--receipt]";

/** A reason to stop that is told without a stack. */
class Stop extends Error {}

/** The owner's key goes to the address that was asked to be verified, never to that of the keys. */
async function open(source: string, ownerKey?: string): Promise<AsyncIterable<Uint8Array>> {
  if (source === "-") return process.stdin;
  if (!/^https?:\/\//.test(source)) return createReadStream(source);
  const headers = new Headers(ownerKey ? { "x-terminal-key": ownerKey } : {});
  const answer = await fetch(source, { headers, redirect: "error" });
  if (!answer.ok || !answer.body) throw new Stop(`${source} answered ${answer.status}`);
  return answer.body;
}

async function readText(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const lines: string[] = [];
  for await (const line of linesOf(chunks)) lines.push(line);
  return lines.join("\n");
}

async function readKeys(source: string): Promise<PublicKeys> {
  const keys = readJwks(parseUnambiguous(await readText(await open(source))));
  if (typeof keys === "string") throw new Stop(`${source}: ${keys}`);
  return keys;
}

async function main(argv: string[]): Promise<Verdict> {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { key: { type: "string" }, jwks: { type: "string" }, receipt: { type: "boolean" } },
  });
  const [source] = positionals;
  if (source === undefined || positionals.length > 1) throw new Stop(USAGE);
  const keys = values.jwks === undefined ? null : await readKeys(values.jwks);
  const chunks = await open(source, values.key ?? process.env.TERMINAL_KEY);
  if (!values.receipt) return verifyExport(linesOf(chunks), keys);
  if (!keys) throw new Stop("a receipt alone needs --jwks FILE|URL");
  return verifyReceipt(await readText(chunks), keys);
}

try {
  const verdict = await main(process.argv.slice(2));
  if (verdict.ok) console.log(`verified ${verdict.count} events, last hash ${verdict.head.hash}`);
  else console.error(`bad seq ${verdict.seq}: ${verdict.why}`);
  process.exitCode = verdict.ok ? 0 : 1;
} catch (error) {
  if (!(error instanceof Error)) throw error;
  const told =
    error instanceof Stop || error instanceof CanonicalError ? error.message : `${error}`;
  console.error(told);
  process.exitCode = 1;
}
