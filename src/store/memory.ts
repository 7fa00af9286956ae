/**
 * What an isolate remembers of D1. Safe only because each value carries its version and the ledger checks
 * it; the age limit is for edits made by plain SQL behind the API, which no ledger sees.
 */
export interface Memory<Value> {
  recall(name: string, nowMs: number): Value | undefined;
  remember(name: string, value: Value, readAtMs: number): void;
  forget(name: string): void;
}

const MAX_ENTRIES = 2_000;
const MAX_AGE_MS = 10_000;

/** The least recently used entry leaves first: a Map keeps the order in which its names were set. */
export function makeMemory<Value>(): Memory<Value> {
  const entries = new Map<string, { value: Value; readAtMs: number }>();
  return {
    recall(name, nowMs) {
      const entry = entries.get(name);
      if (!entry) return undefined;
      entries.delete(name);
      if (nowMs - entry.readAtMs >= MAX_AGE_MS) return undefined;
      entries.set(name, entry);
      return entry.value;
    },
    remember(name, value, readAtMs) {
      entries.delete(name);
      entries.set(name, { value, readAtMs });
      if (entries.size <= MAX_ENTRIES) return;
      const [oldest] = entries.keys();
      entries.delete(oldest!);
    },
    forget(name) {
      entries.delete(name);
    },
  };
}
