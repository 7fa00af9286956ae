import type { SearchText } from "../core/ask-rank.ts";
import { indexTerms, indexJoins } from "../core/ask-text.ts";
import { parseDocstring } from "../core/docstring.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { Row } from "../core/row.ts";

/**
 * The writing side of the search index (SPEC §13). A write of the directory indexes its row in the same
 * batch; a row that came by plain SQL is marked in `search_dirty` by a trigger and indexed at the next
 * question. Both go through `settleStatements`.
 */
export type IndexedRow = Pick<Row, "key" | "category" | "content" | "examples" | "input_schema">;

/** Terms kept of one field; what is beyond says little of a row and would cost every question. */
const MAX_TERMS = {
  name: 60,
  category: 40,
  description: 300,
  args: 200,
  examples: 200,
  joined: 60,
};
/** Characters of a column that are read for the index. */
const MAX_TEXT = 20_000;
/** Rows that one round indexes, and rounds that one question pays for. */
const ROWS_PER_ROUND = 200;
const MAX_ROUNDS = 10;

interface Document {
  /** Names the mark in `search_dirty` that is answered, and by it the key. */
  stamp: string;
  /** Null: there is no such row any more. */
  text: SearchText | null;
}

/**
 * For the batch that writes (or, with null, deletes) the row: it must stand behind that statement, whose
 * trigger has marked the key. A batch is one transaction, so the stamp taken here is nobody else's.
 */
export function indexStatements(
  db: D1Database,
  key: string,
  row: IndexedRow | null,
): D1PreparedStatement[] {
  const stamp = `written:${key}`;
  const mark = db
    .prepare(
      `insert into search_dirty (key, stamp) values (?, ?)
       on conflict (key) do update set stamp = excluded.stamp`,
    )
    .bind(key, stamp);
  return [mark, ...settleStatements(db, [{ stamp, text: row ? searchTextOf(row) : null }])];
}

export function searchTextOf(row: IndexedRow): SearchText {
  const doc = parseDocstring(row.content?.slice(0, MAX_TEXT) ?? null);
  const description = `${doc.what} ${doc.whenToUse}`;
  const examples = [...doc.examples.map(withoutTags), ...listOf(row.examples)]
    .join(" ")
    .slice(0, MAX_TEXT);
  const args = `${doc.args} ${schemaText(row.input_schema)}`;
  const terms = (text: string, max: number): string => indexTerms(text, max).join(" ");
  return {
    name: terms(row.key, MAX_TERMS.name),
    category: terms(row.category ?? "", MAX_TERMS.category),
    description: terms(description, MAX_TERMS.description),
    args: terms(args, MAX_TERMS.args),
    examples: terms(examples, MAX_TERMS.examples),
    joined: indexJoins(row.key, description, MAX_TERMS.joined).join(" "),
  };
}

/** `[KEY]a|b[/KEY]` names the key, which is a field of its own: only the inside tells something more. */
function withoutTags(example: string): string {
  return example.replace(/\[\/?[A-Za-z0-9_.-]+\]/g, " ");
}

function listOf(json: string | null): string[] {
  const value = parseOrNull(json);
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Names and descriptions of the properties at the root. */
function schemaText(json: string | null): string {
  const schema = parseOrNull(json);
  const properties =
    isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
  const texts = Object.entries(properties).map(
    ([name, value]) => `${name} ${descriptionOf(value)}`,
  );
  return texts.join(" ").slice(0, MAX_TEXT);
}

function descriptionOf(value: unknown): string {
  const description = isJsonObject(value) ? (value as JsonObject).description : "";
  return typeof description === "string" ? description : "";
}

function parseOrNull(json: string | null): unknown {
  try {
    return JSON.parse(json ?? "null");
  } catch {
    // A column that is no JSON has nothing to index; the contract shows it as it is.
    return null;
  }
}

/**
 * Writes the documents and takes their marks away; one statement of each kind, however many documents. A
 * stamp that is no longer there means that the row has changed since it was read: whoever changed it has
 * indexed it or has marked it anew, and its document here is dropped.
 */
function settleStatements(db: D1Database, documents: readonly Document[]): D1PreparedStatement[] {
  const present = documents.filter(({ text }) => text !== null);
  const gone = documents.filter(({ text }) => text === null);
  const field = (name: keyof SearchText): string => `item.value ->> '$.text.${name}'`;
  const upsert = db
    .prepare(
      `insert into search_rows (key, name, category, description, args, examples, joined)
       select mark.key, ${field("name")}, ${field("category")}, ${field("description")},
         ${field("args")}, ${field("examples")}, ${field("joined")}
       from json_each(?) as item join search_dirty as mark on mark.stamp = item.value ->> '$.stamp'
       where true
       on conflict (key) do update set name = excluded.name, category = excluded.category,
         description = excluded.description, args = excluded.args, examples = excluded.examples,
         joined = excluded.joined`,
    )
    .bind(JSON.stringify(present));
  const remove = db
    .prepare(`delete from search_rows where key in (select key from search_dirty where ${STAMPED})`)
    .bind(stampsOf(gone));
  const clear = db.prepare(`delete from search_dirty where ${STAMPED}`).bind(stampsOf(documents));
  return [...(present.length > 0 ? [upsert] : []), ...(gone.length > 0 ? [remove] : []), clear];
}

const STAMPED = "stamp in (select value from json_each(?))";

function stampsOf(marked: readonly { stamp: string }[]): string {
  return JSON.stringify(marked.map(({ stamp }) => stamp));
}

export interface DirtyMark {
  stamp: string;
}

/** Reads the marks; the first statement of every question's batch. */
export function dirtyStatement(db: D1Database): D1PreparedStatement {
  return db.prepare("select stamp from search_dirty limit ?").bind(ROWS_PER_ROUND);
}

/** Indexes what is marked, round by round, until nothing is or the bound of one question is reached. */
export async function indexDirty(db: D1Database, first: DirtyMark[]): Promise<void> {
  let marks = first;
  for (let round = 0; marks.length > 0 && round < MAX_ROUNDS; round++) {
    const { results } = await db
      .prepare(
        `select mark.stamp, row.key, row.category, substr(row.content, 1, ${MAX_TEXT}) as content,
           row.examples, row.input_schema
         from search_dirty as mark left join directory as row on row.key = mark.key where ${STAMPED}`,
      )
      .bind(stampsOf(marks))
      .all<DirtyMark & { [column in keyof IndexedRow]: IndexedRow[column] | null }>();
    const documents = results.map(({ stamp, key, ...row }): Document => ({
      stamp,
      text: key === null ? null : searchTextOf({ ...row, key }),
    }));
    const answers = await db.batch<DirtyMark>([
      ...settleStatements(db, documents),
      dirtyStatement(db),
    ]);
    marks = answers.at(-1)?.results ?? [];
  }
}
