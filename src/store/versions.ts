import { and, desc, eq, lt } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { JsonObject } from "../core/json.ts";
import type { Row } from "../core/row.ts";
import { directoryVersions } from "./schema.ts";

/** One state that a row has had; `row` null: its deletion. */
export interface Version {
  version: number;
  action: string;
  row: Row | null;
  contract: string | null;
  principal: string;
  receipt_id: string;
  at: string;
}

/** Most states that one answer lists. */
export const VERSIONS_PER_PAGE = 500;

export async function readVersion(
  db: D1Database,
  key: string,
  version: number,
): Promise<Version | null> {
  const [found] = await drizzle(db)
    .select()
    .from(directoryVersions)
    .where(and(eq(directoryVersions.key, key), eq(directoryVersions.version, version)));
  if (!found) return null;
  const { key: _key, row, ...rest } = found;
  return { ...rest, row: row === null ? null : (JSON.parse(row) as Row) };
}

/** Newest first, without the rows themselves; `before` continues a list that was cut. */
export async function listVersions(
  db: D1Database,
  key: string,
  before: number | null,
): Promise<JsonObject[]> {
  const { version, action, contract, principal, receipt_id, at } = directoryVersions;
  return drizzle(db)
    .select({ version, action, contract, principal, receipt_id, at })
    .from(directoryVersions)
    .where(and(eq(directoryVersions.key, key), before === null ? undefined : lt(version, before)))
    .orderBy(desc(version))
    .limit(VERSIONS_PER_PAGE);
}
