/**
 * Generates load, in a process of its own: a number of connections, each with one request at a time, over
 * raw sockets, since a full HTTP client would take the processor from what is measured. Bounded in count
 * and in time. Takes one LoadOrder as a message, answers one LoadReport.
 */
import { connect } from "node:net";

export interface LoadOrder {
  port: number;
  /** Whole HTTP/1.1 requests, taken in turn. */
  requests: string[];
  connections: number;
  maxCalls: number;
  maxMs: number;
  /** Any other status counts as an error. */
  status: number;
}

export interface LoadReport {
  calls: number;
  seconds: number;
  errors: number;
  /** The first answer with another status. */
  sample: string;
  /** Milliseconds. */
  p50: number;
  p95: number;
  p99: number;
  callsPerSecond: number;
}

const ANSWER_MS = 20_000;

// Ends with the benchmark, however that ended.
process.on("disconnect", () => process.exit(1));
process.on("message", (order: LoadOrder) => {
  void generate(order).then((report) => process.send?.(report, () => process.disconnect()));
});

async function generate(order: LoadOrder): Promise<LoadReport> {
  const latencies: number[] = [];
  const faults: string[] = [];
  const began = performance.now();
  let sent = 0;
  const next = (): string | undefined => {
    if (sent >= order.maxCalls || performance.now() - began > order.maxMs) return undefined;
    return order.requests[sent++ % order.requests.length];
  };
  await Promise.all(
    Array.from({ length: order.connections }, () => drive(order, next, latencies, faults)),
  );
  const seconds = (performance.now() - began) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? NaN;
  return {
    calls: latencies.length,
    seconds,
    errors: faults.length,
    sample: faults[0] ?? "",
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    callsPerSecond: latencies.length / seconds,
  };
}

function drive(
  order: LoadOrder,
  next: () => string | undefined,
  latencies: number[],
  faults: string[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: order.port, noDelay: true });
    let buffer = Buffer.alloc(0);
    let started = 0;
    const send = () => {
      const request = next();
      if (request === undefined) return socket.end(resolve);
      started = performance.now();
      return socket.write(request);
    };
    socket.on("connect", send);
    socket.on("error", reject);
    // Without these a request that is never answered, or cut off, would stop the run silently.
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error(`no answer in ${ANSWER_MS} ms`)));
    socket.on("close", () => reject(new Error("the connection closed before the answer")));
    socket.on("data", (chunk) => {
      buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk]);
      if (!isComplete(buffer)) return;
      latencies.push(performance.now() - started);
      if (Number(buffer.toString("latin1", 9, 12)) !== order.status) faults.push(buffer.toString());
      buffer = Buffer.alloc(0);
      send();
    });
  });
}

/** A whole answer, by its length or its last chunk. */
function isComplete(buffer: Buffer): boolean {
  const end = buffer.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const head = buffer.toString("latin1", 0, end);
  const length = /^content-length: (\d+)/im.exec(head);
  if (length) return buffer.length >= end + 4 + Number(length[1]);
  return buffer.toString("latin1", buffer.length - 5) === "0\r\n\r\n";
}
