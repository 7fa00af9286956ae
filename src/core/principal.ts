/**
 * Who calls. The owner holds the deployment's key; a stranger is anonymous. Tokens, OAuth grants and
 * agents join this union with their scope; the gate is the only place that reads it.
 */
export type Principal = { kind: "owner" } | { kind: "anonymous" };

export const OWNER: Principal = { kind: "owner" };
export const ANONYMOUS: Principal = { kind: "anonymous" };

/** The name under which the ledger records a principal. */
export function actorOf(principal: Principal): string {
  return principal.kind;
}
