/** The bytes that a model reads to use one row it did not know: ask, contract, invoke, confirm. */
import { ask, bound, isMain, type Part, startBench } from "./harness.ts";

export const loopBytes: Part = async () => {
  const bench = await startBench();
  try {
    const invoked = await ask(bench.product, "/api/dispatch", {
      key: "NOW",
      body: "Europe/Berlin",
    });
    const answers = [
      ["ask", 1_800, await ask(bench.product, "/api/dispatch?ask=what+time+is+it")],
      ["contract", 2_400, await ask(bench.product, "/api/dispatch?key=NOW&format=markdown")],
      ["invoke", 700, invoked],
      [
        "confirm",
        700,
        await ask(bench.product, `/api/dispatch?confirm=${invoked.json.invocation.id}`),
      ],
    ] as const;
    console.log("bytes a model reads for NOW");
    const sizes = answers.map(([name, most, { text }]) => ({
      name,
      most,
      bytes: Buffer.byteLength(text),
    }));
    const held = sizes.map(({ name, most, bytes }) => bound(name, bytes, most));
    const sum = sizes.reduce((total, { bytes }) => total + bytes, 0);
    return [...held, bound("sum", sum, 6_000)].every(Boolean);
  } finally {
    await bench.stop();
  }
};

if (isMain(import.meta)) process.exitCode = (await loopBytes()) ? 0 : 1;
