import type { Recorded } from "../../src/core/call.ts";
import type { EventDraft } from "../../src/core/event.ts";
import type { Intent, MutationLog } from "../../src/store/mutation-log.ts";

export interface MemoryLog extends MutationLog {
  /** Drafts that were confirmed, in that order. */
  events: EventDraft[];
  pending: Map<string, Intent>;
  abandoned: string[];
  /** Runs inside `begin`: what happens between the reading of a row and its writing. */
  onBegin: (intent: Intent) => Promise<void>;
}

/** The ledger's part of a write, kept in memory, with its order checked. */
export function makeMemoryLog(): MemoryLog {
  const log: MemoryLog = {
    events: [],
    pending: new Map(),
    abandoned: [],
    onBegin: async () => undefined,
    async begin(intent) {
      log.pending.set(intent.draft.id, intent);
      await log.onBegin(intent);
    },
    async confirm(id): Promise<Recorded> {
      const intent = log.pending.get(id);
      if (!intent) throw new Error(`no intent ${id}`);
      log.pending.delete(id);
      log.events.push(intent.draft);
      return { seq: log.events.length, at: intent.draft.at, hash: "", signature: "" };
    },
    async abandon(id) {
      if (!log.pending.delete(id)) throw new Error(`no intent ${id}`);
      log.abandoned.push(id);
    },
  };
  return log;
}
