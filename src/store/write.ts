import { drizzle } from "drizzle-orm/d1";
import { eq } from "drizzle-orm";
import type { EventDraft } from "../core/event.ts";
import type { Refusal } from "../core/failure.ts";
import { matchesVersion } from "../core/if-match.ts";
import type { Violation } from "../core/hygiene.ts";
import type { JsonObject } from "../core/json.ts";
import { actorOf } from "../core/principal.ts";
import {
  decideChange,
  notFound,
  type Current,
  type RowChange,
  type ChangeRequest,
} from "../core/row-change.ts";
import type { Row } from "../core/row.ts";
import type { Answer, Author, Clock, Ids } from "../dispatch/ports.ts";
import { refusalAnswer } from "./answer.ts";
import { commit, MAX_TRIES, type MutationLog } from "./mutation-log.ts";
import { findState, readStates } from "./rows.ts";
import { directory, directoryVersions } from "./schema.ts";
import { readVersion } from "./versions.ts";

export interface WriteDeps {
  db: D1Database;
  log: MutationLog;
  clock: Pick<Clock, "now">;
  ids: Pick<Ids, "event">;
  violations(row: Row): Violation[];
  /** Statements that bring the search index in step, run in the same batch as the row. */
  index(key: string, row: Row | null): D1PreparedStatement[];
  /** The contract fingerprint of a row that is about to be written. */
  contractOf(row: Row): Promise<string>;
}

/** Every write of the directory, whoever asks: read, decide, intent, D1 batch, confirmation. */
export async function changeRow(
  deps: WriteDeps,
  request: ChangeRequest,
  author: Author,
  ifMatch: string | null,
): Promise<Answer> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const current = await readCurrent(deps.db, request);
    const refusal = refuseVersion(request, current, ifMatch);
    if (refusal) return refusalAnswer(refusal);
    const change = await toChange(deps.db, current, request);
    if ("error" in change) return refusalAnswer(change);
    const now = new Date(deps.clock.now()).toISOString();
    const decision = decideChange(current, change, { now, violations: deps.violations });
    if (!decision.ok) return refusalAnswer(decision.refusal);

    const next: Next = {
      key: current.key,
      row: decision.row,
      version: current.version + 1,
      action: request.action,
      now,
    };
    if ((await save(deps, next, author)) === "conflict") continue;
    return answer(current, next, decision.ignored);
  }
  return refusalAnswer({
    status: 503,
    error: "write_contention",
    hint: `Others wrote this row ${MAX_TRIES} times meanwhile; nothing of this write was kept. Try again.`,
  });
}

interface Next {
  key: string;
  row: Row | null;
  version: number;
  action: ChangeRequest["action"];
  now: string;
}

async function readCurrent(db: D1Database, { action, key }: ChangeRequest): Promise<Current> {
  // Keys that differ in case are different rows: a creation takes its key as it is written.
  if (action === "create") return (await readStates(db, [key])).get(key)!;
  return findState(db, key, { history: action === "rollback" });
}

/** A row that must exist and does not is 404 whatever version was named, which decideChange says. */
function refuseVersion(
  { action }: ChangeRequest,
  current: Current,
  ifMatch: string | null,
): Refusal | null {
  if (ifMatch === null || action === "create") return null;
  if (!current.row && action !== "put" && action !== "rollback") return null;
  if (matchesVersion(ifMatch, current.row ? current.version : null)) return null;
  return {
    status: 412,
    error: "version_conflict",
    hint: "",
    members: { current: current.version },
  };
}

async function toChange(
  db: D1Database,
  current: Current,
  request: ChangeRequest,
): Promise<RowChange | Refusal> {
  if (request.action !== "rollback") return request;
  const past = await readVersion(db, current.key, request.version);
  if (!past) return notFound();
  if (past.row) return { action: "rollback", state: past.row };
  return {
    status: 422,
    error: "version_is_deletion",
    hint: `Version ${request.version} is the row's deletion: DELETE the row, or name another version.`,
  };
}

async function save(
  deps: WriteDeps,
  next: Next,
  author: Author,
): Promise<"committed" | "conflict"> {
  const { db } = deps;
  const { action, key, row, version } = next;
  const draft: EventDraft = {
    id: deps.ids.event(),
    kind: "DIRECTORY_MUTATE",
    at: next.now,
    actor: actorOf(author.principal),
    via: author.via,
    key,
    trace: author.trace,
    parent: author.parent,
    data: { action, key, row: row && { ...row }, version },
  };
  const state = {
    key,
    version,
    action,
    row: row && JSON.stringify(row),
    contract: row && (await deps.contractOf(row)),
    principal: draft.actor,
    receipt_id: draft.id,
    at: next.now,
  };
  const orm = drizzle(db);
  const prepare = ({ sql, params }: { sql: string; params: unknown[] }): D1PreparedStatement =>
    db.prepare(sql).bind(...params);
  return commit(db, deps.log, {
    intent: { draft, key, version },
    statements: [
      prepare(orm.insert(directoryVersions).values(state).toSQL()),
      prepare(
        row
          ? orm
              .insert(directory)
              .values(row)
              .onConflictDoUpdate({ target: directory.key, set: row })
              .toSQL()
          : orm.delete(directory).where(eq(directory.key, key)).toSQL(),
      ),
      ...deps.index(key, row),
    ],
    landed: db
      .prepare("select 1 from directory_versions where key = ? and version = ? and receipt_id = ?")
      .bind(key, version, draft.id),
  });
}

function answer(current: Current, next: Next, ignored: string[]): Answer {
  const { key, row, version } = next;
  if (!row) return { status: 200, body: { ok: true, key, deleted: 1 } };
  const body: JsonObject = { ok: true, key, updated_at: row.updated_at, version };
  if (ignored.length > 0) body.ignored = ignored;
  const created = next.action === "create" || (next.action === "put" && !current.row);
  return { status: created ? 201 : 200, body, version };
}
