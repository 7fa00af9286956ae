import type { Recorded } from "../core/call.ts";
import type { EventDraft } from "../core/event.ts";

/** A change about to be made. Until it is confirmed or abandoned, every call of `key` reads D1. */
export interface Intent {
  draft: EventDraft;
  /** A row's key, or `secret:NAME` for a host binding. */
  key: string;
  version: number;
}

/**
 * The ledger's side of a change in D1, which is how no isolate ever serves a stale row: intent, then the
 * D1 batch, then confirmation, which appends the event. A change that dies between leaves a pending key,
 * never a stale one; the ledger settles it by asking D1 whether a state with the event's id landed.
 */
export interface MutationLog {
  begin(intent: Intent): Promise<void>;
  confirm(id: string): Promise<Recorded>;
  abandon(id: string): Promise<void>;
}

export interface Mutation {
  intent: Intent;
  /** The first inserts the state whose primary key (name and version) is the optimistic lock. */
  statements: D1PreparedStatement[];
  /** Finds a row exactly when the state of this very intent is in D1. */
  landed: D1PreparedStatement;
}

/**
 * Makes one change, wholly or not at all. `conflict`: another writer took that version, nothing changed.
 * @throws whatever D1 or the ledger threw. An answer of D1 may be lost after it wrote, so what landed is
 * read back before an intent is abandoned; if that fails too, the intent stays for the ledger to settle.
 */
export async function commit(
  db: Pick<D1Database, "batch">,
  log: MutationLog,
  mutation: Mutation,
): Promise<"committed" | "conflict"> {
  const { id } = mutation.intent.draft;
  await log.begin(mutation.intent);
  try {
    await db.batch(mutation.statements);
  } catch (error) {
    if ((await mutation.landed.first()) === null) {
      await log.abandon(id);
      if (isConflict(error)) return "conflict";
      throw error;
    }
  }
  await log.confirm(id);
  return "committed";
}

function isConflict(error: unknown): boolean {
  return (
    error instanceof Error &&
    /UNIQUE constraint failed: (?:directory_versions|secret_bindings)\./.test(error.message)
  );
}

/** One change is tried this often against writers of the same key before its author is told to wait. */
export const MAX_TRIES = 5;
