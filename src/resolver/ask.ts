import { matchExpression, readQuestion, type Question } from "../core/ask-text.ts";
import {
  needsOf,
  rank,
  termsToLookUp,
  type Candidate,
  type Ranked,
  type Statistics,
} from "../core/ask-rank.ts";
import { nearestTerm, slipsAllowed, type KnownTerm } from "../core/spelling.ts";
import { dirtyStatement, indexDirty, type DirtyMark } from "./index-row.ts";

/**
 * The resolver (SPEC §13): plain words in, rows out, inside the Worker and D1. Two round trips for a
 * question whose words are known, three with a misspelt one. Bounds: MAX_QUESTION_BYTES of text, the
 * rarest MAX_NEEDS words, MAX_MENDED mended words over MAX_KNOWN terms each, MAX_RANKED rows ranked.
 */
const MAX_NEEDS = 40;
const MAX_RANKED = 60;
const MAX_MENDED = 6;
const MAX_KNOWN = 4_000;
/** Characters of a row's content that a candidate brings along: its WHAT stands there. */
const MAX_CONTENT = 1_000;
export const MAX_CANDIDATES = 12;

/** Below this confidence nothing is called best. */
const MIN_CONFIDENCE = 0.2;
/** Two scores nearer than this share of the higher are a close call: the caller chooses. */
const CLOSE_CALL = 0.05;
/** From here on the lead over the second says nothing more. */
const CLEAR_LEAD = 0.25;

/** A row as the index and the directory know it; `content` is cut. */
export interface FoundRow extends Candidate {
  target: string | null;
  auth: string | null;
  content: string | null;
}

export interface Answer {
  /** The question as it was understood: trimmed, cut at MAX_QUESTION_BYTES. */
  question: string;
  best: { key: string; confidence: number } | null;
  candidates: { row: FoundRow; score: number }[];
  /** Present without a best row, and for a close call. */
  hint?: string;
}

/** Plain words in, ranked rows out; whatever the words are, it answers. */
export type Ask = (text: string, limit?: number) => Promise<Answer>;

export function makeAsk(db: D1Database): Ask {
  return (text, limit = MAX_CANDIDATES) => ask(db, text, limit);
}

async function ask(db: D1Database, text: string, limit: number): Promise<Answer> {
  const question = readQuestion(text);
  const statistics = await readStatistics(db, question);
  const mended = await mend(db, question, statistics);
  const needs = needsOf(question, statistics, mended, MAX_NEEDS);
  const terms = new Set(needs.flatMap(({ alternatives }) => alternatives.map(({ term }) => term)));
  if (terms.size === 0)
    return { question: question.text, best: null, candidates: [], hint: hintFor(question) };
  const rows = await findRows(db, terms);
  const ranked = rank(rows, needs, question.squeezed);
  return { question: question.text, ...judge(ranked, question, Math.min(limit, MAX_CANDIDATES)) };
}

function judge(
  ranked: Ranked<FoundRow>[],
  question: Question,
  limit: number,
): Omit<Answer, "question"> {
  const [first, second] = ranked;
  const candidates = ranked
    .slice(0, limit)
    .map(({ candidate, score }) => ({ row: candidate, score }));
  if (!first) return { best: null, candidates, hint: hintFor(question) };
  const isAlone = !second || (first.exact && !second.exact);
  const lead = isAlone ? 1 : (first.score - second.score) / Math.max(first.score, 0.01);
  const confidence = first.exact ? 1 : confidenceOf(first.covered, lead);
  if (confidence < MIN_CONFIDENCE)
    return {
      best: null,
      candidates,
      hint: "No row fits well. Say what it should do in other words, or look through ?map=1.",
    };
  const best = { key: first.candidate.key, confidence };
  if (lead >= CLOSE_CALL) return { best, candidates };
  return {
    best,
    candidates,
    hint: "The first candidates are nearly equal: compare what they do before you call one.",
  };
}

/**
 * How much of the question the row answers, and how clearly it leads. The root brings the figure near
 * the share of such answers that are right; questions with several needs are right more often than it says.
 */
function confidenceOf(covered: number, lead: number): number {
  return Number(Math.sqrt(covered * (0.2 + 0.8 * Math.min(1, lead / CLEAR_LEAD))).toFixed(2));
}

function hintFor(question: Question): string {
  return question.terms.length === 0
    ? "Name the thing and what should happen to it, such as: merge two pdf files."
    : "No row has any of these words. Try others, or look through ?map=1 and ?registry=1.";
}

async function readStatistics(db: D1Database, question: Question): Promise<Statistics> {
  const terms = JSON.stringify(termsToLookUp(question));
  const read = async (): Promise<{ statistics: Statistics; dirty: DirtyMark[] }> => {
    const [dirty, size, postings] = await db.batch([
      dirtyStatement(db),
      // The highest id stands for the number of rows: the same but for deleted ones, and found at once.
      db.prepare("select coalesce(max(id), 0) as rows from search_rows"),
      db
        .prepare(
          `select term, doc as rows from json_each(?) as wanted
           join search_terms on search_terms.term = wanted.value`,
        )
        .bind(terms),
    ]);
    const known = (postings?.results ?? []) as KnownTerm[];
    const [{ rows } = { rows: 0 }] = (size?.results ?? []) as { rows: number }[];
    return {
      statistics: {
        rows,
        postings: new Map(known.map(({ term, rows: holders }) => [term, holders])),
      },
      dirty: (dirty?.results ?? []) as DirtyMark[],
    };
  };
  const { statistics, dirty } = await read();
  if (dirty.length === 0) return statistics;
  await indexDirty(db, dirty);
  return (await read()).statistics;
}

/** For each word that no row has, the known word it was meant to be. */
async function mend(
  db: D1Database,
  question: Question,
  { postings }: Statistics,
): Promise<Map<string, KnownTerm>> {
  const isJoined = (term: string): boolean =>
    question.joins.some((join) => join.parts.includes(term) && postings.has(join.term));
  const unknown = question.terms
    .filter((term) => !postings.has(term) && !isJoined(term) && slipsAllowed(term) > 0)
    .slice(0, MAX_MENDED);
  const mended = new Map<string, KnownTerm>();
  if (unknown.length === 0) return mended;
  const answers = await db.batch<KnownTerm>(unknown.map((term) => similarStatement(db, term)));
  for (const [index, term] of unknown.entries()) {
    const nearest = nearestTerm(term, answers[index]?.results ?? []);
    if (nearest) mended.set(term, nearest);
  }
  return mended;
}

/** Terms of about the same length that begin with one of the first two letters (a slip may swap them). */
function similarStatement(db: D1Database, term: string): D1PreparedStatement {
  const [first, second] = [...term];
  const slips = slipsAllowed(term);
  const range = "term >= ? and term < ? and length(term) between ? and ?";
  const boundsOf = (letter: string): [string, string] => [letter, `${letter}\u{10ffff}`];
  const lengths = [term.length - slips, term.length + slips];
  return db
    .prepare(
      `select term, doc as rows from search_terms where ${range}
       union select term, doc as rows from search_terms where ${range} limit ${MAX_KNOWN}`,
    )
    .bind(...boundsOf(first!), ...lengths, ...boundsOf(second ?? first!), ...lengths);
}

/** The rows that hold any of the terms, best by bm25 first; the weights are those of ask-rank.ts. */
async function findRows(db: D1Database, terms: Iterable<string>): Promise<FoundRow[]> {
  const { results } = await db
    .prepare(
      `select r.key, r.name, r.category, r.description, r.args, r.examples, r.joined,
         coalesce(d.planner_rank, 100) as planner_rank, d.target, d.auth, substr(d.content, 1, ${MAX_CONTENT}) as content
       from search_index
       join search_rows r on r.id = search_index.rowid
       join directory d on d.key = r.key
       where search_index match ? and coalesce(d.enabled, 1) = 1 and coalesce(d.planner_visible, 1) = 1
       order by bm25(search_index, 2, 1, 1, 0.5, 0.7, 1), planner_rank, r.key
       limit ${MAX_RANKED}`,
    )
    .bind(matchExpression(terms))
    .all<FoundRow>();
  return results;
}
