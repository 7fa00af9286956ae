import { stem } from "./stem.ts";
import { cutUtf8 } from "./utf8.ts";

/**
 * How text becomes search terms, the same for a row and for a question (SPEC §13). A term is folded (case,
 * width, accents), split out of identifiers, stemmed, and holds only letters, marks and digits of any
 * script; so nothing in it can be query syntax.
 */

/** More of a question is cut off at a code point, so that its cost has a bound. */
export const MAX_QUESTION_BYTES = 2_048;
/** Longest term; the rest of a longer word is dropped on both sides alike. */
const MAX_TERM_LENGTH = 40;

/** Letters that no decomposition reduces to their Latin base. */
const BASE_LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({ ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", ı: "i", þ: "th" }),
);

/** Marks that writers leave out at will: Latin, Greek and Cyrillic accents, Hebrew points, Arabic vowels. */
const LOOSE_MARKS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g;

/** Scripts that put no space between words, and Hangul, whose particles are glued to the noun. */
const UNSPACED =
  /([\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+)/u;

/** One part of an identifier: plural acronym (`PDFs`), acronym, capitalised or small word, number. */
const PARTS = /\p{Lu}{2,}s(?!\p{Ll})|\p{Lu}{2,}(?!\p{Ll})|\p{Lu}?[^\p{Lu}\p{N}]+|\p{Lu}+|\p{N}+/gu;

/** A letter with its marks. */
const LETTERS = /\P{M}\p{M}*/gu;

/** A run of letters and digits of a text, folded and not yet stemmed. */
interface Word {
  /** The parts of an identifier, or the letters of unspaced script. */
  parts: string[];
  isUnspaced: boolean;
}

export function fold(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFD")
    .replace(LOOSE_MARKS, "")
    .normalize("NFC")
    .replace(/[ßæœøđðłıþ]/g, (letter) => BASE_LETTERS.get(letter) ?? letter);
}

function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  const plain = text
    .normalize("NFKC")
    .replace(/(\p{L})['’](?:s(?!\p{L}))?/gu, (_, letter: string) => letter);
  for (const [run] of plain.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    // Odd pieces of a split by a capturing group are what the group took.
    for (const [index, piece] of run.split(UNSPACED).entries()) {
      const isUnspaced = index % 2 === 1;
      const parts = isUnspaced ? fold(piece).match(LETTERS) : piece.match(PARTS)?.map(foldPart);
      if (parts && parts.length > 0) words.push({ parts: parts.filter(Boolean), isUnspaced });
    }
  }
  return words;
}

function foldPart(part: string): string {
  return cutTerm(fold(part));
}

/** Overlapping pairs of unspaced letters (or the single one), stems of everything else. */
function termsOf({ parts, isUnspaced }: Word): string[] {
  if (!isUnspaced) return parts.map(stem);
  return parts.length < 2 ? parts : pairsOf(parts);
}

function pairsOf(parts: readonly string[]): string[] {
  return parts.slice(1).map((part, index) => parts[index]! + part);
}

/** `github` of `GitHub`, `base64` of `base64`. */
function wholeOf({ parts, isUnspaced }: Word): string[] {
  return isUnspaced || parts.length < 2 ? [] : [joinOf(parts)];
}

function joinOf(parts: readonly string[]): string {
  return stem(cutTerm(parts.join("")));
}

/** D1 takes no half of a surrogate pair. */
function cutTerm(text: string): string {
  return text.slice(0, MAX_TERM_LENGTH).toWellFormed();
}

/** Terms of a row's text in their order, at most `max`; unspaced script by letter as well as by pair. */
export function indexTerms(text: string, max: number): string[] {
  const terms = wordsOf(text).flatMap((word) => {
    const byLetter = word.isUnspaced && word.parts.length > 1 ? new Set(word.parts) : [];
    return [...termsOf(word), ...byLetter];
  });
  return terms.slice(0, max);
}

/**
 * Terms under which a row is also found: wholes of its split words (`github` for `GitHub`), and its key
 * with neighbours written together (`listissues` for `LIST_ISSUES`).
 */
export function indexJoins(key: string, text: string, max: number): string[] {
  const parts = wordsOf(key).flatMap((word) => word.parts);
  const joins = [
    joinOf(parts),
    ...pairsOf(parts).map((pair) => stem(pair)),
    ...wordsOf(text).flatMap(wholeOf),
  ];
  return [...new Set(parts.length < 2 ? joins.slice(1) : joins)].slice(0, max);
}

/** What a question asks for, word by word. */
export interface Question {
  /** As it was understood: trimmed and cut. */
  text: string;
  /** Its content terms, each once, in order, without stop words. */
  terms: string[];
  /** Terms that may stand for neighbours: two adjacent parts, or a whole split word, written together. */
  joins: { term: string; parts: string[] }[];
  /** Every letter and digit in order, to recognise a key in any spelling. */
  squeezed: string;
}

export function readQuestion(raw: string): Question {
  const text = cutUtf8(raw.trim(), MAX_QUESTION_BYTES);
  const words = wordsOf(text);
  const content = words.flatMap(termsOf).filter((term) => !FUNCTION_TERMS.has(term));
  const wanted = content.filter((term) => !FILLER_TERMS.has(term));
  const terms = [...new Set(wanted.length > 0 ? wanted : content)];
  return { text, terms, joins: joinsOf(words), squeezed: squeeze(text) };
}

function joinsOf(words: readonly Word[]): Question["joins"] {
  const spaced = words.filter((word) => !word.isUnspaced);
  const wholes = spaced.filter(({ parts }) => parts.length > 2);
  const parts = spaced.flatMap((word) => word.parts);
  const pairs = parts.slice(1).map((right, index) => [parts[index]!, right]);
  return [...wholes.map((word) => word.parts), ...pairs].map((joined) => ({
    term: joinOf(joined),
    parts: joined.map(stem),
  }));
}

/** `list_issues`, `listIssues` and `List issues` alike. */
export function squeeze(text: string): string {
  return fold(text.normalize("NFKC")).replace(/[^\p{L}\p{M}\p{N}]+/gu, "");
}

/** An FTS5 expression that any of the terms satisfies. Every term is a quoted string: no syntax in it. */
export function matchExpression(terms: Iterable<string>): string {
  return Array.from(terms, (term) => `"${term.replaceAll('"', '""')}"`).join(" OR ");
}

function termSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/).filter(Boolean).map(stem));
}

/** Words that say nothing of what is wanted; a question of these alone finds nothing. */
const FUNCTION_TERMS = termSet(`
  a an the this that these those it its they them their theirs he him his she her hers we us our ours you your
  yours i me my mine myself yourself itself who whom whose which what when where why how there here
  am is are was were be been being do does did doing done have has had having can could will would shall should
  may might must ought dont doesnt didnt cant couldnt wont wouldnt isnt arent im ive id ill youre lets
  and or not nor but if then else than so as at by for from in into of off on onto out over to up via with
  without within about above after against along among around before behind below between during per since
  through toward under until upon while because whether
  any some all each every both either neither no none such same own other another more most less least few many
  much very too also just only even ever still yet again once too s t re ve ll
`);

/** Words of asking as such: dropped unless nothing else is said. */
const FILLER_TERMS = termSet(`
  please need want like wish would tell say give get got getting make made making let help know show see
  use using used able try going go thing something anything way hello hi hey thank thanks kindly
  looking look interested possible
`);
