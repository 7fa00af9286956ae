import type { Capability, Credential, RunResult } from "../core/call.ts";
import type { Guard, Ports } from "./ports.ts";

/** Rows whose breaker has counted a failure, as far as this isolate was told. They are admitted first. */
export interface BreakerMemory {
  watched(key: string): boolean;
  note(key: string, watched: boolean): void;
}

/** Bounded by the rows that fail at the moment; a healthy answer takes a row out. */
export function makeBreakerMemory(): BreakerMemory {
  const keys = new Set<string>();
  return {
    watched: (key) => keys.has(key),
    note: (key, watched) => void (watched ? keys.add(key) : keys.delete(key)),
  };
}

/** Only rows with an upstream have a breaker. */
export function breakerOf(capability: Capability, credential: Credential): Guard["breaker"] {
  const { row } = capability;
  return row.type === "http" ? { key: row.key, credential: credential.digest } : undefined;
}

export const breakerKvKey = (key: string): string => `breaker:${key}`;

/** What a run tells its row's breaker goes with its receipt, so that a count is never lost or doubled. */
export function withSignal(guard: Guard, { signal }: RunResult): Guard {
  return guard.breaker && signal ? { ...guard, breaker: { ...guard.breaker, signal } } : guard;
}

/** What the ledger said of the row's breaker. An opened one leaves the KV key that an operator deletes. */
export async function noteBreaker(
  ports: Ports,
  key: string,
  { watched, opened }: { watched: boolean; opened: boolean },
): Promise<void> {
  ports.breakers.note(key, watched);
  if (!opened) return;
  // It outlives the longest pause and then goes by itself.
  const at = new Date(ports.clock.now()).toISOString();
  await ports.stores.kv.put(breakerKvKey(key), at, { expirationTtl: 3_660 });
  await ports.ledger.markBreaker(key);
}
