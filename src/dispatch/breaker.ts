import type { Capability, Credential } from "../core/call.ts";
import type { EventDraft } from "../core/event.ts";
import type { Admission, Guard, Ports } from "./ports.ts";

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

const kvKey = (key: string): string => `breaker:${key}`;

/**
 * Asks the ledger to admit a run. An operator closes a breaker by deleting its KV key, so that key is
 * read while the row is open, and only then.
 */
export async function admit(
  ports: Ports,
  guard: Guard,
  started: EventDraft | null,
): Promise<Admission> {
  const admission = await ports.ledger.admit(guard, started);
  if (admission.outcome !== "open" || !guard.breaker) return admission;
  if ((await ports.stores.kv.get(kvKey(guard.breaker.key))) !== null) return admission;
  await ports.ledger.resetBreaker(guard.breaker.key);
  return ports.ledger.admit(guard, started);
}

/** Leaves the KV key that an operator deletes; it outlives the longest pause and then goes by itself. */
export async function markOpen(ports: Ports, key: string): Promise<void> {
  await ports.stores.kv.put(kvKey(key), new Date(ports.clock.now()).toISOString(), {
    expirationTtl: 3_660,
  });
}
