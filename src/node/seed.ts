import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { STARTER_ROWS } from "../core/starter-rows.ts";

/**
 * Writes the starter rows through the API, so they pass the same rules as any row. Each is offered once
 * per state: a row that the owner deleted stays deleted, a row that was there before is left alone.
 *
 * @returns one line for each row that was refused.
 */
export async function seedStarterRows(
  origin: string,
  ownerKey: string,
  persist: string,
): Promise<string[]> {
  const record = path.join(persist, "seeded.json");
  const seeded = new Set<string>(
    existsSync(record) ? (JSON.parse(readFileSync(record, "utf8")) as string[]) : [],
  );
  const faults: string[] = [];
  for (const row of STARTER_ROWS) {
    if (seeded.has(row.key)) continue;
    const answer = await fetch(`${origin}/api/directory`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-terminal-key": ownerKey },
      body: JSON.stringify(row),
    });
    const text = await answer.text();
    if (answer.status === 201 || answer.status === 409) seeded.add(row.key);
    else
      faults.push(`starter row ${row.key} was not added: ${answer.status} ${text.slice(0, 300)}`);
  }
  writeFileSync(record, JSON.stringify([...seeded]));
  return faults;
}
