import { squeeze, type Question } from "./ask-text.ts";
import { SYNONYMS } from "./ask-synonyms.ts";
import type { KnownTerm } from "./spelling.ts";

/** The prepared text of a row: terms with a space between. */
export interface SearchText {
  name: string;
  category: string;
  description: string;
  args: string;
  examples: string;
  joined: string;
}

/** One thing that the question asks for, and every term that may stand for it with its worth. */
export interface Need {
  term: string;
  /** Rarity of the thing itself: what an absent word would have told weighs as the rarest one. */
  idf: number;
  alternatives: { term: string; worth: number; idf: number }[];
}

/** What the index knows of terms. */
export interface Statistics {
  /** Rows in the index. */
  rows: number;
  /** Term → rows that hold it; a term without posting is absent. */
  postings: ReadonlyMap<string, number>;
}

export interface Candidate extends SearchText {
  key: string;
  planner_rank: number;
}

export interface Ranked<C> {
  candidate: C;
  score: number;
  /** Share of the question's weight that the row answers, 0 to 1. */
  covered: number;
  /** The question is this row's key, in whatever spelling. */
  exact: boolean;
}

/** BM25F: weight of a field, how far its length counts, and the length taken as usual. */
const FIELDS = [
  { field: "name", weight: 2, lengthShare: 0.4, usual: 3 },
  { field: "category", weight: 1, lengthShare: 0.4, usual: 2 },
  { field: "description", weight: 1, lengthShare: 0.7, usual: 20 },
  { field: "args", weight: 0.5, lengthShare: 0.7, usual: 30 },
  { field: "examples", weight: 0.7, lengthShare: 0.7, usual: 30 },
  { field: "joined", weight: 1, lengthShare: 0, usual: 1 },
] as const;
const SATURATION = 1.2;
const SYNONYM_WORTH = 0.5;
const JOIN_WORTH = 1;
const MENDED_WORTH = 0.8;
const NAME_COVERAGE = 1.5;
const TEXT_COVERAGE = 0.6;
/** A score is told with so many decimals; rows that agree in it are ordered by planner_rank. */
const DECIMALS = 2;

/** Terms whose postings a question needs to be known. */
export function termsToLookUp(question: Question): string[] {
  const terms = new Set(question.terms);
  for (const { term } of question.joins) terms.add(term);
  for (const term of question.terms) for (const other of SYNONYMS.get(term) ?? []) terms.add(other);
  return [...terms];
}

/** Words without posting → the known term that was meant, as the resolver found it. */
export type Mended = ReadonlyMap<string, KnownTerm>;

export function needsOf(
  question: Question,
  statistics: Statistics,
  mended: Mended,
  maxNeeds: number,
): Need[] {
  const needs = question.terms.map((term): Need => {
    const options = [{ term, worth: 1, rows: statistics.postings.get(term) }];
    const add = (other: string, worth: number): number =>
      options.push({ term: other, worth, rows: statistics.postings.get(other) });
    for (const other of SYNONYMS.get(term) ?? []) add(other, SYNONYM_WORTH);
    for (const join of question.joins) if (join.parts.includes(term)) add(join.term, JOIN_WORTH);
    const meant = mended.get(term);
    if (meant) options.push({ ...meant, worth: MENDED_WORTH });
    const alternatives = options.flatMap(({ term: other, worth, rows }) =>
      rows === undefined ? [] : [{ term: other, worth, idf: idfOf(statistics.rows, rows) }],
    );
    const idf = alternatives[0]?.idf ?? idfOf(statistics.rows, 0);
    return { term, idf, alternatives };
  });
  // Of a long question the rarest words that some row has say what it is about; the rest would only cost.
  const isKnown = (need: Need): number => Number(need.alternatives.length > 0);
  return needs
    .sort((left, right) => isKnown(right) - isKnown(left) || right.idf - left.idf)
    .slice(0, maxNeeds);
}

/** `holders` may exceed `rows`, which is an estimate. */
function idfOf(rows: number, holders: number): number {
  return Math.log(1 + (Math.max(rows - holders, 0) + 0.5) / (holders + 0.5));
}

/** Best first. */
export function rank<C extends Candidate>(
  candidates: readonly C[],
  needs: readonly Need[],
  squeezed: string,
): Ranked<C>[] {
  return candidates
    .map((candidate) => scoreOf(candidate, needs, squeeze(candidate.key) === squeezed))
    .sort(
      (left, right) =>
        Number(right.exact) - Number(left.exact) ||
        right.score - left.score ||
        left.candidate.planner_rank - right.candidate.planner_rank ||
        (left.candidate.key < right.candidate.key ? -1 : 1),
    );
}

function scoreOf<C extends Candidate>(
  candidate: C,
  needs: readonly Need[],
  exact: boolean,
): Ranked<C> {
  const fields = FIELDS.map((shape) => ({ ...shape, ...countTerms(candidate[shape.field]) }));
  const total = needs.reduce((sum, need) => sum + need.idf, 0);
  let text = 0;
  let covered = 0;
  const hit = new Set<string>();
  for (const need of needs) {
    let best = 0;
    let share = 0;
    for (const { term, worth, idf } of need.alternatives) {
      const frequency = fields.reduce((sum, { counts, length, weight, lengthShare, usual }) => {
        const count = counts.get(term) ?? 0;
        return sum + (weight * count) / (1 - lengthShare + (lengthShare * length) / usual);
      }, 0);
      if (frequency === 0) continue;
      hit.add(term);
      best = Math.max(best, (worth * idf * frequency) / (SATURATION + frequency));
      share = Math.max(share, worth);
    }
    text += best;
    covered += share * need.idf;
  }
  const [name, , description] = fields;
  const bonus =
    NAME_COVERAGE * shareHit(name!.counts, hit) +
    TEXT_COVERAGE * shareHit(description!.counts, hit);
  // Long questions and short ones share one scale.
  const score = (text + bonus) / (total + 4) ** 0.25;
  return {
    candidate,
    score: Number(score.toFixed(DECIMALS)),
    covered: total === 0 ? 0 : Math.min(1, covered / total),
    exact,
  };
}

function shareHit(counts: ReadonlyMap<string, number>, hit: ReadonlySet<string>): number {
  if (counts.size === 0) return 0;
  let found = 0;
  for (const term of counts.keys()) if (hit.has(term)) found++;
  return found / counts.size;
}

function countTerms(text: string): { counts: Map<string, number>; length: number } {
  const counts = new Map<string, number>();
  const terms = text === "" ? [] : text.split(" ");
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { counts, length: terms.length };
}
