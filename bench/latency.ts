/**
 * Calls of the product over what the platform costs at least: latency, throughput and processor time,
 * as ratios to the floors of the same run. Rounds are interleaved, since a machine's speed drifts.
 */
import {
  ask,
  type Bench,
  isMain,
  measure,
  type Measured,
  median,
  type Part,
  rssMiB,
  startBench,
  type Target,
  target,
} from "./harness.ts";

const ROUNDS = 3;
const CONNECTIONS = [1, 16, 64];
const LIMITS = { maxCalls: 6_000, maxMs: 1_500 };
const WARM_UP = { connections: 4, maxCalls: 400, maxMs: 2_000 };

interface Pair {
  subject: Target;
  /** Answers as many bytes, and writes as large a row, as the subject. */
  floor: Target;
}

export const latency: Part = async () => {
  await report("state in memory", false, ROUNDS, CONNECTIONS);
  await report("state on disk", true, 1, [1, 16]);
  return true;
};

async function report(title: string, onDisk: boolean, rounds: number, connections: number[]) {
  const bench = await startBench({ onDisk });
  try {
    const pairs = await makePairs(bench);
    for (const { subject, floor } of pairs) {
      await measure(bench.pid, floor, WARM_UP);
      await measure(bench.pid, subject, WARM_UP);
    }
    console.log(`\n${title}, medians of ${rounds}; ratios are to the floor named in front of them`);
    for (const count of connections) {
      console.log(`\n${count} connection${count === 1 ? "" : "s"}`);
      printRow([
        "",
        "p50 ms",
        "p95",
        "p99",
        "calls/s",
        "cpu ms",
        "floor",
        "p50 x",
        "p99 x",
        "calls/s x",
        "cpu x",
      ]);
      const results = pairs.map(() => ({ subject: [] as Measured[], floor: [] as Measured[] }));
      for (let round = 0; round < rounds; round++) {
        for (const [index, { subject, floor }] of pairs.entries()) {
          const limits = { ...LIMITS, connections: count };
          results[index]!.floor.push(await measure(bench.pid, floor, limits));
          results[index]!.subject.push(await measure(bench.pid, subject, limits));
        }
      }
      for (const [index, pair] of pairs.entries()) printPair(pair, results[index]!);
    }
    console.log(`\nworkerd after it all: ${rssMiB(bench.pid).toFixed(0)} MiB`);
  } finally {
    await bench.stop();
  }
}

async function makePairs(bench: Bench): Promise<Pair[]> {
  const { product, floors, upstream } = bench;
  const row = {
    key: "UPSTREAM",
    type: "http",
    target: `GET ${upstream}/weather`,
    content: "# WHAT: Asks the upstream of the benchmark.",
  };
  const added = await ask(product, "/api/directory", row);
  if (added.status !== 201) throw new Error(`row UPSTREAM: ${added.status} ${added.text}`);

  const now = JSON.stringify({ key: "NOW", body: "UTC" });
  const http = JSON.stringify({ key: "UPSTREAM", body: "" });
  const unknown = JSON.stringify({ key: "NO_SUCH_KEY", body: "" });
  const invoked = await ask(product, "/api/dispatch", JSON.parse(now));
  const receipt = await ask(product, `/api/dispatch?receipt=${invoked.json.invocation.id}`);
  const rowBytes = Buffer.byteLength(receipt.text);

  const floor = (letter: "a" | "b" | "c" | "u", bytes: number, body?: string): Target => {
    const query = new URLSearchParams({ bytes: String(bytes), row: String(rowBytes), upstream });
    return target(letter, floors, `/${letter}?${query}`, { body });
  };
  const pair = async (
    name: string,
    letter: "a" | "b" | "u",
    place: string,
    options: { body?: string; status?: number } = {},
  ): Promise<Pair> => {
    const { body } = options;
    const { text } = await ask(product, place, body && JSON.parse(body));
    return {
      subject: target(name, product, place, options),
      floor: floor(letter, Buffer.byteLength(text), body),
    };
  };
  const invokedBytes = Buffer.byteLength(invoked.text);
  return [
    await pair("invoke fn", "b", "/api/dispatch", { body: now }),
    await pair("invoke http", "u", "/api/dispatch", { body: http }),
    await pair("contract", "a", "/api/dispatch?key=NOW"),
    await pair("ask", "a", "/api/dispatch?ask=what+time+is+it"),
    await pair("refused", "a", "/api/dispatch", { body: unknown, status: 404 }),
    {
      subject: { ...floor("c", invokedBytes, now), name: "floor c" },
      floor: floor("b", invokedBytes, now),
    },
  ];
}

function printPair(
  { subject, floor }: Pair,
  results: { subject: Measured[]; floor: Measured[] },
): void {
  const of = (side: Measured[], name: keyof Measured) =>
    median(side.map((each) => Number(each[name])));
  const ratio = (name: keyof Measured) => of(results.subject, name) / of(results.floor, name);
  const ms = (side: Measured[], name: keyof Measured) => of(side, name).toFixed(2);
  printRow([
    floor.name,
    ms(results.floor, "p50"),
    ms(results.floor, "p95"),
    ms(results.floor, "p99"),
    of(results.floor, "callsPerSecond").toFixed(0),
    ms(results.floor, "cpuMs"),
  ]);
  printRow([
    subject.name,
    ms(results.subject, "p50"),
    ms(results.subject, "p95"),
    ms(results.subject, "p99"),
    of(results.subject, "callsPerSecond").toFixed(0),
    ms(results.subject, "cpuMs"),
    floor.name,
    ratio("p50").toFixed(2),
    ratio("p99").toFixed(2),
    ratio("callsPerSecond").toFixed(2),
    ratio("cpuMs").toFixed(2),
  ]);
}

function printRow([name, ...cells]: string[]): void {
  console.log(name!.padEnd(27) + cells.map((cell) => cell.padStart(10)).join(""));
}

if (isMain(import.meta)) await latency();
