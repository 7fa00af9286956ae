import type { Claim, Operation } from "../core/call.ts";
import { MAX_DEPTH } from "../core/call.ts";
import { parseDocstring, type Docstring } from "../core/docstring.ts";
import { parseTarget } from "../core/request.ts";
import { keySpellings, type Row } from "../core/row.ts";
import type { Current } from "../core/row-change.ts";
import { pickState, readStates } from "./rows.ts";

/** What of a row's meaning other parts of the program decide. */
export interface Meaning {
  stepKeys(payload: string): string[];
  fnOperation(target: string): Operation;
  fingerprintOf(
    row: Row,
    doc: Docstring,
    facts: { operation: Operation; includes: (string | null)[] | null },
  ): string;
}

/** A row and every row that its operation and fingerprint rest on: steps and includes, level by level. */
export interface Closure {
  root: Row;
  states: ReadonlyMap<string, Current>;
  meaning: Meaning;
}

/** Flows of flows could reach the whole directory; beyond this many keys a row counts as writing. */
const MAX_KEYS = 1_000;

export async function readClosure(
  db: D1Database,
  meaning: Meaning,
  root: Current & { row: Row },
): Promise<Closure> {
  const states = new Map<string, Current>([[root.key, root]]);
  let level: Row[] = [root.row];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    const keys = new Set(level.flatMap((row) => dependencies(row, meaning)));
    const unseen = [...keys].flatMap(keySpellings).filter((key) => !states.has(key));
    const wanted = [...new Set(unseen)].slice(0, Math.max(0, MAX_KEYS - states.size));
    if (wanted.length === 0) break;
    const found = await readStates(db, wanted);
    for (const [key, state] of found) states.set(key, state);
    level = [...found.values()].flatMap(({ row }) => row ?? []);
  }
  return { root: root.row, states, meaning };
}

/** Everything that was read, so that the ledger can say whether any of it has changed. */
export function claimsOf({ states }: Closure): Claim[] {
  return [...states.values()].map(({ key, version }) => ({ key, version }));
}

function dependencies(row: Row, meaning: Meaning): string[] {
  if (row.type === "flow") return meaning.stepKeys(parseDocstring(row.content).payload);
  return row.type === "agent" ? includesOf(row) : [];
}

function includesOf(row: Row): string[] {
  return (row.includes ?? "")
    .split(",")
    .map((key) => key.trim())
    .filter(Boolean);
}

/**
 * `read` only when nothing that the row can reach writes. A step without a row fails before it fires
 * anything, and a cycle adds nothing; a step that was not read at all counts as writing.
 */
export function operationOf(
  closure: Closure,
  row: Row = closure.root,
  seen = new Set<string>(),
): Operation {
  switch (row.type) {
    case "fn":
      return closure.meaning.fnOperation(row.target ?? "");
    case "http": {
      const target = parseTarget(row.target);
      return target.ok && (target.method === "GET" || target.method === "HEAD") ? "read" : "write";
    }
    case "agent":
      return "write";
    case "flow": {
      if (seen.has(row.key)) return "read";
      seen.add(row.key);
      const writes = dependencies(row, closure.meaning).some((key) => {
        if (!keySpellings(key).every((spelling) => closure.states.has(spelling))) return true;
        const step = pickState(closure.states, key);
        return step?.row ? operationOf(closure, step.row, seen) === "write" : false;
      });
      return writes ? "write" : "read";
    }
  }
}

/** An include that is unknown, or that includes the row itself, has no fingerprint. */
export function fingerprint(
  closure: Closure,
  row: Row = closure.root,
  known = new Map<string, string | null>(),
): string {
  known.set(row.key, null);
  const includes = row.type === "agent" ? includesOf(row) : [];
  const fingerprints = includes.map((key) => {
    const included = pickState(closure.states, key)?.row;
    if (!included) return null;
    return (
      known.get(included.key) ??
      (known.has(included.key) ? null : fingerprint(closure, included, known))
    );
  });
  const facts = {
    operation: operationOf(closure, row),
    includes: includes.length > 0 ? fingerprints : null,
  };
  const own = closure.meaning.fingerprintOf(row, parseDocstring(row.content), facts);
  known.set(row.key, own);
  return own;
}
