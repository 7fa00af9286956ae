/**
 * One isolate writes a row in a loop, another calls it: a call that starts after a write was answered
 * must never answer with the older row.
 */
import { ask, type Bench, bound, isMain, type Part, startBench } from "./harness.ts";

const CALLS = 10_000;
const MAX_MS = 240_000;
const CALLERS = 8;
const KEY = "FRESH";

export const staleness: Part = async () => {
  const bench = await startBench();
  try {
    const { calls, stale, writes } = await race(bench);
    console.log(`two isolates, ${calls} calls while ${writes} writes landed`);
    return bound("stale answers", stale, 0) && calls >= CALLS;
  } finally {
    await bench.stop();
  }
};

async function race({ product, twin }: Bench) {
  let landed = 0;
  let calls = 0;
  let stale = 0;
  let writes = 0;
  const deadline = Date.now() + MAX_MS;
  const going = () => calls < CALLS && Date.now() < deadline;
  const row = (version: number) => ({
    key: KEY,
    type: "fn",
    target: "echo",
    content: `# WHAT: Tells which write it is from.\n[${version}]`,
  });
  const write = async (version: number) => {
    const answer = await ask(product, `/api/directory/${KEY}`, row(version), "PUT");
    if (answer.status > 201) throw new Error(`write ${version}: ${answer.status} ${answer.text}`);
    landed = version;
    writes++;
  };
  await write(1);
  const writer = async () => {
    while (going()) await write(landed + 1);
  };
  const caller = async () => {
    while (going()) {
      const least = landed;
      const { text, json } = await ask(twin, "/api/dispatch", { key: KEY, body: "" });
      if (typeof json?.result !== "number") throw new Error(`call: ${text}`);
      calls++;
      if (json.result < least) stale++;
    }
  };
  await Promise.all([writer(), ...Array.from({ length: CALLERS }, caller)]);
  return { calls, stale, writes };
}

if (isMain(import.meta)) process.exitCode = (await staleness()) ? 0 : 1;
