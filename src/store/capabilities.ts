import type { Capability } from "../core/call.ts";
import { parseDocstring } from "../core/docstring.ts";
import { readJson } from "../core/json-text.ts";
import { isJsonObject } from "../core/json.ts";
import { keySpellings, type Row } from "../core/row.ts";
import type { Current } from "../core/row-change.ts";
import type { Capabilities, Clock } from "../dispatch/ports.ts";
import { claimsOf, fingerprint, operationOf, readClosure, type Meaning } from "./closure.ts";
import { makeMemory } from "./memory.ts";
import { nearKeys } from "./near.ts";
import { pickState, readStates } from "./rows.ts";

export interface CapabilityDeps extends Meaning {
  clock: Pick<Clock, "now">;
}

/** Built once per isolate: what it remembers is the point of it. */
export interface CapabilityStore extends Capabilities {
  /** The contract fingerprint of a row as it stands or is about to stand, from rows read now. */
  contractOf(row: Row): Promise<string>;
}

/**
 * Rows made ready to be called. An unknown key is never remembered, and neither is the absence of the
 * exact spelling of a key found upper-cased: its version is a claim like any other.
 */
export function makeCapabilities(db: D1Database, deps: CapabilityDeps): CapabilityStore {
  const memory = makeMemory<Capability>();
  return {
    async resolve(key, { fresh }) {
      const nowMs = deps.clock.now();
      const remembered = fresh ? undefined : memory.recall(key, nowMs);
      if (remembered) return remembered;
      const states = await readStates(db, keySpellings(key));
      const found = pickState(states, key);
      if (!found?.row) {
        memory.forget(key);
        return null;
      }
      const capability = await prepare(db, deps, { ...found, row: found.row });
      const missed = [...states.values()].filter((state) => !state.row && state.key !== found.key);
      const claims = [
        ...capability.claims,
        ...missed.map((state) => ({ key: state.key, version: state.version })),
      ];
      memory.remember(key, { ...capability, claims, fresh: false }, nowMs);
      return { ...capability, claims };
    },
    near: (key) => nearKeys(db, key),
    contractOf: async (row) =>
      fingerprint(await readClosure(db, deps, { key: row.key, row, version: 0 })),
  };
}

async function prepare(
  db: D1Database,
  deps: CapabilityDeps,
  state: Current & { row: Row },
): Promise<Capability> {
  const closure = await readClosure(db, deps, state);
  const { row, version } = state;
  const schema = row.input_schema === null ? undefined : readJson(row.input_schema);
  return {
    row,
    version,
    doc: parseDocstring(row.content),
    operation: operationOf(closure),
    fingerprint: fingerprint(closure),
    schema: isJsonObject(schema) ? schema : undefined,
    claims: claimsOf(closure),
    fresh: true,
  };
}
