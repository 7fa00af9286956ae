import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { parseAuth } from "../core/auth.ts";
import type { EventDraft } from "../core/event.ts";
import { actorOf } from "../core/principal.ts";
import type { Answer, Author, Clock, Ids, Secrets } from "../dispatch/ports.ts";
import { commit, MAX_TRIES, type MutationLog } from "./mutation-log.ts";
import { refusalAnswer } from "./answer.ts";
import { canonicalOrder } from "./rows.ts";
import { directory, secretBindings } from "./schema.ts";
import { readBinding } from "./secrets.ts";

export interface BindingDeps {
  db: D1Database;
  log: MutationLog;
  clock: Pick<Clock, "now">;
  ids: Pick<Ids, "event">;
  secrets: Pick<Secrets, "value" | "reserved">;
}

/** What a deployment's owner decides of secrets: where each may go. No value ever passes here. */
export interface SecretBindings {
  bind(name: string, hosts: string[], author: Author): Promise<Answer>;
  /** Every name that a row uses or that was ever bound. */
  list(): Promise<Answer>;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export function makeSecretBindings(deps: BindingDeps): SecretBindings {
  return {
    bind: (name, hosts, author) => bind(deps, name, [...new Set(hosts)], author),
    list: () => list(deps),
  };
}

async function bind(
  deps: BindingDeps,
  name: string,
  hosts: string[],
  author: Author,
): Promise<Answer> {
  const { db, secrets } = deps;
  if (!NAME.test(name)) {
    const hint = "The name of a secret is a letter or _, then up to 127 letters, digits or _.";
    return refusalAnswer({ status: 400, error: "invalid_name", hint });
  }
  if (secrets.reserved(name)) {
    const hint =
      "rowcall keeps this name for itself; no row may use it, so it is bound to no host.";
    return refusalAnswer({ status: 400, error: `reserved_name:${name}`, hint });
  }
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const version = (await readBinding(db, name)).version + 1;
    if ((await save(deps, { name, hosts, version }, author)) === "conflict") continue;
    const present = secrets.value(name) !== null;
    return { status: 200, body: { ok: true, name, hosts, present, version } };
  }
  const hint = "Others bound this secret meanwhile; nothing of this write was kept. Try again.";
  return refusalAnswer({ status: 503, error: "write_contention", hint });
}

async function save(
  { db, log, clock, ids }: BindingDeps,
  next: { name: string; hosts: string[]; version: number },
  author: Author,
): Promise<"committed" | "conflict"> {
  const { name, hosts, version } = next;
  const draft: EventDraft = {
    id: ids.event(),
    kind: "SECRET_BIND",
    at: new Date(clock.now()).toISOString(),
    actor: actorOf(author.principal),
    via: author.via,
    key: null,
    trace: author.trace,
    parent: author.parent,
    data: { name, hosts, version },
  };
  const insert = drizzle(db)
    .insert(secretBindings)
    .values({ name, version, hosts: JSON.stringify(hosts), receipt_id: draft.id, at: draft.at })
    .toSQL();
  return commit(db, log, {
    intent: { draft, key: `secret:${name}`, version },
    statements: [db.prepare(insert.sql).bind(...insert.params)],
    landed: db
      .prepare("select 1 from secret_bindings where name = ? and version = ? and receipt_id = ?")
      .bind(name, version, draft.id),
  });
}

interface Listed {
  name: string;
  present: boolean;
  hosts: string[];
  /** Keys of the rows whose auth names it. */
  keys: string[];
}

async function list({ db, secrets }: BindingDeps): Promise<Answer> {
  const orm = drizzle(db);
  const [rows, bound] = await Promise.all([
    orm
      .select({ key: directory.key, auth: directory.auth })
      .from(directory)
      .where(sql`coalesce(${directory.auth}, '') <> ''`)
      .orderBy(...canonicalOrder),
    // SQLite takes the other columns of a max() from the row that holds it.
    orm
      .select({
        name: secretBindings.name,
        hosts: secretBindings.hosts,
        version: sql`max(${secretBindings.version})`,
      })
      .from(secretBindings)
      .groupBy(secretBindings.name),
  ]);
  const found = new Map<string, Listed>();
  const entry = (name: string): Listed => {
    const known = found.get(name) ?? {
      name,
      present: secrets.value(name) !== null,
      hosts: [],
      keys: [],
    };
    found.set(name, known);
    return known;
  };
  for (const { name, hosts } of bound) entry(name).hosts = JSON.parse(hosts) as string[];
  for (const { key, auth } of rows) {
    const parsed = parseAuth(auth);
    if (parsed.ok) for (const name of parsed.names) entry(name).keys.push(key);
  }
  const names = [...found.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  return { status: 200, body: { secrets: names.map((item) => ({ ...item })) } };
}
