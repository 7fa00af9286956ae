import { afterAll, beforeAll, expect, it } from "vitest";
import { ask, type Bench, startBench } from "../../bench/harness.ts";

/** Two isolates of one deployment: what the one was answered, the other never contradicts. */
let bench: Bench;
const row = (key: string, payload: string, more: Record<string, unknown> = {}) => ({
  key,
  type: "fn",
  target: "echo",
  content: `# WHAT: tells which write it is from.\n${payload}`,
  ...more,
});
const call = (origin: string, key: string) => ask(origin, "/api/dispatch", { key, body: "" });

beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench?.stop());

it("a call that starts after a write was answered never answers with the older row, under load", async () => {
  const { product, twin } = bench;
  let landed = 0;
  let calls = 0;
  let stale = 0;
  const write = async (version: number): Promise<void> => {
    const { status } = await ask(
      product,
      "/api/directory/RACE",
      row("RACE", `[${version}]`),
      "PUT",
    );
    expect(status).toBeLessThan(300);
    landed = version;
  };
  await write(1);
  const writer = async (): Promise<void> => {
    while (calls < 1_500) await write(landed + 1);
  };
  const caller = async (origin: string): Promise<void> => {
    while (calls < 1_500) {
      const least = landed;
      const { json } = await call(origin, "RACE");
      calls++;
      if (!(json.result >= least)) stale++;
    }
  };
  await Promise.all([writer(), caller(twin), caller(twin), caller(product)]);
  expect(stale).toBe(0);
  expect(landed).toBeGreaterThan(20);
});

it("a row that is switched off, on or deleted in one isolate is so in the other at once", async () => {
  const { product, twin } = bench;
  await ask(product, "/api/directory", row("SWITCH", "[1]"));
  for (let round = 0; round < 10; round++) {
    expect((await call(twin, "SWITCH")).status).toBe(200);
    await ask(product, "/api/directory/SWITCH", { enabled: 0 }, "PATCH");
    expect((await call(twin, "SWITCH")).status).toBe(404);
    await ask(product, "/api/directory/SWITCH", { enabled: 1 }, "PATCH");
  }
  expect((await call(twin, "SWITCH")).status).toBe(200);
  await ask(product, "/api/directory/SWITCH", undefined, "DELETE");
  expect((await call(twin, "SWITCH")).status).toBe(404);
});

it("a flow whose step becomes a writing row has another contract in the other isolate at once", async () => {
  const { product, twin } = bench;
  await ask(product, "/api/directory", row("STEP", '["$1"]'));
  const flow = { ...row("STEPS", "STEP: x"), type: "flow", target: "" };
  await ask(product, "/api/directory", flow);
  const contractOf = async (): Promise<string> => {
    const { json } = await call(twin, "STEPS");
    const { json: receipt } = await ask(twin, `/api/dispatch?receipt=${json.invocation.id}`);
    return receipt.data.fingerprints.contract;
  };
  const before = await contractOf();
  await ask(product, "/api/directory/STEP", row("STEP", '["k","$1"]', { target: "kv_put" }), "PUT");
  expect(await contractOf()).not.toBe(before);
});
