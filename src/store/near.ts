import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { editDistance } from "../core/spelling.ts";
import { isEnabled } from "./rows.ts";
import { directory } from "./schema.ts";

const MAX_NEAR = 5;
/** Of a larger catalogue the first part is searched. */
const MAX_KEYS = 5_000;
const MAX_SLIPS = 4;
/** Letters compared with letters: a stranger may ask for any key, and gets some ten milliseconds of work. */
const MAX_COMPARISONS = 2_000_000;

/** Up to five enabled keys that a misspelt one may mean, nearest first. */
export async function nearKeys(db: D1Database, attempted: string): Promise<string[]> {
  const wanted = attempted.slice(0, 128).toUpperCase();
  const found = await drizzle(db)
    .select({ key: directory.key })
    .from(directory)
    .where(sql`${isEnabled} and length(${directory.key}) <= 128`)
    .limit(MAX_KEYS);
  return rankNear(
    wanted,
    found.map(({ key }) => key),
  );
}

/** A key that holds the other whole is near; else at most one slip in three characters, four in all. */
export function rankNear(wanted: string, keys: readonly string[]): string[] {
  const max = Math.min(MAX_SLIPS, Math.floor(wanted.length / 3));
  let comparisons = 0;
  const slips = (key: string): number => {
    const [left, right] = withoutCommonEnds(wanted, key);
    const cost = Math.abs(left.length - right.length) > max ? 0 : left.length * right.length;
    if (comparisons + cost <= MAX_COMPARISONS) {
      comparisons += cost;
      const distance = editDistance(left, right, max);
      if (distance <= max) return distance;
    }
    return holds(wanted, key) ? max + 1 : Infinity;
  };
  return keys
    .map((key) => ({ key, slips: slips(key.toUpperCase()) }))
    .filter((near) => near.slips <= max + 1)
    .sort((left, right) => left.slips - right.slips || (left.key < right.key ? -1 : 1))
    .slice(0, MAX_NEAR)
    .map(({ key }) => key);
}

/** What two names share at both ends changes no distance, and keys of one family share most. */
function withoutCommonEnds(left: string, right: string): [string, string] {
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start++;
  let end = 0;
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end++;
  return [left.slice(start, left.length - end), right.slice(start, right.length - end)];
}

/** Names shorter than three characters hold or are held by chance. */
function holds(left: string, right: string): boolean {
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  return short.length >= 3 && long.includes(short);
}
