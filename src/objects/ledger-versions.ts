import type { Claim } from "../core/call.ts";

/** What stands, or is about to stand, in D1 under the keys that calls name. */
export interface Versions {
  /** Whether a call that claims this ran on something older than what stands or may stand in D1. */
  isStale(claims: readonly Claim[]): boolean;
  /** To be called with every change of an intent or a version. */
  changed(): void;
}

interface Standing {
  /** Null: never written through this ledger, so that no other version is known. */
  version: number | null;
  /** A write is under way. */
  pending: boolean;
}

/** Rows of a busy deployment; beyond it the memory starts anew. */
const MAX_REMEMBERED = 4_096;

const STANDING = `select (select version from versions where key = ?1) as version,
  exists (select 1 from intents where key = ?1) as pending`;

/**
 * The object is the only writer of both tables, so it may remember what it read until it writes again.
 * A write that is rolled back has only emptied the memory.
 */
export function openVersions(sql: SqlStorage): Versions {
  const remembered = new Map<string, Standing>();

  function standing(key: string): Standing {
    const known = remembered.get(key);
    if (known) return known;
    const row = sql.exec<{ version: number | null; pending: number }>(STANDING, key).one();
    const read = { version: row.version, pending: row.pending === 1 };
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(key, read);
    return read;
  }

  return {
    isStale: (claims) =>
      claims.some(({ key, version }) => {
        const { version: stands, pending } = standing(key);
        return pending || (stands !== null && stands !== version);
      }),
    changed: () => remembered.clear(),
  };
}
