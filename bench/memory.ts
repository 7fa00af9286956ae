/** What the runtime holds in memory as the ledger grows: it must not keep the ledger. */
import { bound, isMain, measure, type Part, rssMiB, startBench, target } from "./harness.ts";

const STEPS = [10_000, 50_000, 100_000, 200_000];
const MAX_MS = 600_000;
const MOST_GROWTH_MIB = 150;

export const memory: Part = async () => {
  const bench = await startBench();
  try {
    const invoke = target("invoke", bench.product, "/api/dispatch", {
      body: JSON.stringify({ key: "ECHO", body: "hello" }),
    });
    console.log(`workerd after the start: ${rssMiB(bench.pid).toFixed(0)} MiB`);
    const deadline = Date.now() + MAX_MS;
    let receipts = 0;
    let first = NaN;
    for (const step of STEPS) {
      const left = deadline - Date.now();
      const report = await measure(bench.pid, invoke, {
        connections: 16,
        maxCalls: step - receipts,
        maxMs: left,
      });
      receipts += report.calls;
      console.log(`workerd after ${receipts} receipts: ${rssMiB(bench.pid).toFixed(0)} MiB`);
      if (Number.isNaN(first)) first = rssMiB(bench.pid);
      if (receipts < step) break;
    }
    return bound(
      `MiB more at ${receipts} receipts than at ${STEPS[0]}`,
      rssMiB(bench.pid) - first,
      MOST_GROWTH_MIB,
    );
  } finally {
    await bench.stop();
  }
};

if (isMain(import.meta)) process.exitCode = (await memory()) ? 0 : 1;
