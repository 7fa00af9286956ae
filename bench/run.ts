/** `npm run bench [-- PART…]`: every part, or the named ones. Exit 1 when a bound does not hold. */
import { latency } from "./latency.ts";
import { loopBytes } from "./loop-bytes.ts";
import { memory } from "./memory.ts";
import { scale } from "./scale.ts";
import { staleness } from "./staleness.ts";

const PARTS = { bytes: loopBytes, latency, staleness, scale, memory };

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`no such part: ${unknown.join(", ")}; there are ${Object.keys(PARTS).join(", ")}`);
  process.exit(2);
}
const held: boolean[] = [];
for (const [name, part] of Object.entries(PARTS)) {
  if (named.length > 0 && !named.includes(name)) continue;
  console.log(`\n== ${name}`);
  held.push(await part());
}
process.exitCode = held.every(Boolean) ? 0 : 1;
