import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/**
 * Applies the D1 migrations that this database has not had, each in one transaction with its entry in
 * wrangler's own table, so `wrangler d1 migrations` sees the same history.
 *
 * @returns the names applied now.
 */
export async function applyMigrations(db: D1Database, directory: string): Promise<string[]> {
  await db.exec(
    "CREATE TABLE IF NOT EXISTS d1_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)",
  );
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  const pending = readdirSync(directory)
    .filter((name) => name.endsWith(".sql") && !applied.has(name))
    .sort();
  if (pending.length === 0) return [];
  const { unstable_splitSqlQuery: split } = await import("wrangler");
  for (const name of pending) {
    const statements = split(readFileSync(path.join(directory, name), "utf8"));
    await db.batch([
      ...statements.map((statement) => db.prepare(statement)),
      db.prepare("INSERT INTO d1_migrations(name) VALUES (?)").bind(name),
    ]);
  }
  return pending;
}
