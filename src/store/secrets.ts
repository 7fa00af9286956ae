import { desc, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { CONFIG_NAMES } from "../core/config.ts";
import type { Clock, Secrets } from "../dispatch/ports.ts";
import { makeMemory } from "./memory.ts";
import { secretBindings } from "./schema.ts";

export interface HostBinding {
  hosts: string[];
  /** 0: the name was never bound. */
  version: number;
}

/**
 * The Worker's environment as rows may see it: strings only, by name, and none of rowcall's own. Built
 * once per isolate, which remembers bindings as it remembers rows; the claim of a binding is `secret:NAME`.
 */
export function makeSecrets(env: object, db: D1Database, clock: Pick<Clock, "now">): Secrets {
  const memory = makeMemory<HostBinding>();
  const values = env as { readonly [name: string]: unknown };
  const reserved = (name: string): boolean =>
    CONFIG_NAMES.has(name) || (Object.hasOwn(env, name) && typeof values[name] !== "string");
  return {
    reserved,
    value(name) {
      if (reserved(name) || !Object.hasOwn(env, name)) return null;
      return String(values[name]).trim() || null;
    },
    async binding(name, { fresh }) {
      const nowMs = clock.now();
      const remembered = fresh ? undefined : memory.recall(name, nowMs);
      if (remembered) return remembered;
      const binding = await readBinding(db, name);
      if (binding.version > 0) memory.remember(name, binding, nowMs);
      return binding;
    },
  };
}

export async function readBinding(db: D1Database, name: string): Promise<HostBinding> {
  const [newest] = await drizzle(db)
    .select({ hosts: secretBindings.hosts, version: secretBindings.version })
    .from(secretBindings)
    .where(eq(secretBindings.name, name))
    .orderBy(desc(secretBindings.version))
    .limit(1);
  return newest
    ? { hosts: JSON.parse(newest.hosts) as string[], version: newest.version }
    : { hosts: [], version: 0 };
}
