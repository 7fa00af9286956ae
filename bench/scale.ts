/** A call must not cost more because the directory is large: 10,000 rows against 50, side by side. */
import {
  type Bench,
  bound,
  isMain,
  measure,
  median,
  type Part,
  startBench,
  target,
} from "./harness.ts";

const SMALL = 50;
const LARGE = 10_000;
const ROUNDS = 5;
const MOST = 1.15;
const LIMITS = { connections: 1, maxCalls: 1_500, maxMs: 4_000 };
/** As many keys in both, so that an isolate remembers the same share of what it is asked. */
const KEYS = Array.from({ length: SMALL }, (_, index) => `SCALE_${index}`);

export const scale: Part = async () => {
  const small = await startBench();
  const large = await startBench();
  try {
    await fill(small.directory, SMALL);
    await fill(large.directory, LARGE);
    const held: boolean[] = [];
    for (const [name, make] of Object.entries({ invoke, contract })) {
      const ratios: number[] = [];
      await measure(small.pid, make(small), LIMITS);
      await measure(large.pid, make(large), LIMITS);
      for (let round = 0; round < ROUNDS; round++) {
        const few = await measure(small.pid, make(small), LIMITS);
        const many = await measure(large.pid, make(large), LIMITS);
        ratios.push(many.p50 / few.p50);
      }
      held.push(bound(`${name}, p50 at ${LARGE} rows over ${SMALL}`, median(ratios), MOST));
    }
    return held.every(Boolean);
  } finally {
    await small.stop();
    await large.stop();
  }
};

function invoke({ product }: Bench) {
  const bodies = KEYS.map((key) => JSON.stringify({ key, body: "x" }));
  const subject = target("invoke", product, "/api/dispatch");
  return {
    ...subject,
    requests: bodies.flatMap((body) => target("", product, "/api/dispatch", { body }).requests),
  };
}

function contract({ product }: Bench) {
  return target(
    "contract",
    product,
    KEYS.map((key) => `/api/dispatch?key=${key}`),
  );
}

/** By SQL, as rows of an older deployment came; the statements stay under D1's limit of size. */
async function fill(db: D1Database, rows: number): Promise<void> {
  const insert = db.prepare(
    `insert into directory(key, type, target, content, category, updated_at, created_at)
     select 'SCALE_' || value, 'fn', 'echo', '# WHAT: Row ' || value || ' of many.' || char(10) || '["$1"]',
       'scale', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'
     from (with recursive n(value) as (select cast(?1 as integer) union all select value + 1 from n where value + 1 < ?2) select value from n)`,
  );
  for (let from = 0; from < rows; from += 1_000) {
    await insert.bind(from, Math.min(from + 1_000, rows)).run();
  }
}

if (isMain(import.meta)) process.exitCode = (await scale()) ? 0 : 1;
