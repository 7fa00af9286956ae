import type { Capability } from "../core/call.ts";
import { unauthorized, unknownKey, type Refusal } from "../core/failure.ts";
import type { Principal } from "../core/principal.ts";

/** What the gate judges: a principal, and the row it wants to run (null: there is none of that key). */
export interface Wish {
  principal: Principal;
  key: string;
  capability: Capability | null;
  /** Near keys, asked for only when the key is unknown. */
  near: () => Promise<string[]>;
}

/**
 * The gate is the only place that decides whether a principal may run a row now; null: it may. Two
 * lists of rules, tried in order, and the first that refuses is what the caller hears (SPEC §9). What
 * can be judged of the caller alone comes before any row is read.
 */
type CallerRule = (principal: Principal) => Refusal | null;
type RowRule = (wish: Wish) => Promise<Refusal | null> | Refusal | null;

/** Nobody runs anything without a credential. */
const credential: CallerRule = (principal) =>
  principal.kind === "anonymous" ? unauthorized() : null;

/** A disabled row answers as unknown, so that its existence does not leak. */
const known: RowRule = async ({ key, capability, near }) =>
  capability && capability.row.enabled ? null : unknownKey(key, await near());

const CALLER_RULES: readonly CallerRule[] = [credential];
const ROW_RULES: readonly RowRule[] = [known];

export function decideCaller(principal: Principal): Refusal | null {
  for (const rule of CALLER_RULES) {
    const refusal = rule(principal);
    if (refusal) return refusal;
  }
  return null;
}

export async function decideRow(wish: Wish): Promise<Refusal | null> {
  for (const rule of ROW_RULES) {
    const refusal = await rule(wish);
    if (refusal) return refusal;
  }
  return null;
}
