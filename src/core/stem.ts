/**
 * Porter's stemmer (M. F. Porter, 1980, with his two later rules for -bli and -logi), so that `invoices` and `invoicing` are one term. Written here and
 * not left to FTS5's own tokenizer because ranking, synonyms and spelling need the same stems outside SQL.
 * Takes a lower-case word; anything but a to z, and words of one or two letters, come back unchanged.
 */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  let text = pluralStep(word);
  text = pastStep(text);
  if (text.endsWith("y") && hasVowel(text.slice(0, -1))) text = `${text.slice(0, -1)}i`;
  text = suffixStep(text, STEP_2);
  text = suffixStep(text, STEP_3);
  text = bareStep(text);
  return finalStep(text);
}

type Suffixes = readonly (readonly [suffix: string, replacement: string])[];

/** A suffix that ends with another stands before it: the first that fits decides. */
const STEP_2: Suffixes = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
  ["logi", "log"],
];
const STEP_3: Suffixes = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];
const STEP_4: readonly string[] = [
  "al",
  "ance",
  "ence",
  "er",
  "ic",
  "able",
  "ible",
  "ant",
  "ement",
  "ment",
  "ent",
  "sion",
  "tion",
  "ou",
  "ism",
  "ate",
  "iti",
  "ous",
  "ive",
  "ize",
];

function pluralStep(text: string): string {
  if (text.endsWith("sses") || text.endsWith("ies")) return text.slice(0, -2);
  return text.endsWith("s") && !text.endsWith("ss") ? text.slice(0, -1) : text;
}

function pastStep(text: string): string {
  if (text.endsWith("eed")) return measure(text.slice(0, -3)) > 0 ? text.slice(0, -1) : text;
  const suffix = ["ed", "ing"].find((end) => text.endsWith(end));
  const base = suffix ? text.slice(0, -suffix.length) : "";
  if (!suffix || !hasVowel(base)) return text;
  if (/(?:at|bl|iz)$/.test(base)) return `${base}e`;
  if (/([^aeiou])\1$/.test(base) && vowelMap(base).endsWith("cc") && !/[lsz]$/.test(base))
    return base.slice(0, -1);
  return measure(base) === 1 && endsShort(base) ? `${base}e` : base;
}

function suffixStep(text: string, suffixes: Suffixes): string {
  const found = suffixes.find(([suffix]) => text.endsWith(suffix));
  if (!found) return text;
  const base = text.slice(0, -found[0].length);
  return measure(base) > 0 ? base + found[1] : text;
}

function bareStep(text: string): string {
  const found = STEP_4.find((suffix) => text.endsWith(suffix));
  if (!found) return text;
  // Of `sion` and `tion` the first letter stays and belongs to what is measured.
  const cut = found.endsWith("ion") ? 3 : found.length;
  const base = text.slice(0, -cut);
  return measure(base) > 1 ? base : text;
}

function finalStep(text: string): string {
  let result = text;
  if (result.endsWith("e")) {
    const base = result.slice(0, -1);
    const size = measure(base);
    if (size > 1 || (size === 1 && !endsShort(base))) result = base;
  }
  return result.endsWith("ll") && measure(result) > 1 ? result.slice(0, -1) : result;
}

/** The word as `c` and `v`; a `y` after a consonant is a vowel. */
function vowelMap(text: string): string {
  let map = "";
  for (const letter of text) {
    map += "aeiou".includes(letter) || (letter === "y" && map.endsWith("c")) ? "v" : "c";
  }
  return map;
}

function hasVowel(text: string): boolean {
  return vowelMap(text).includes("v");
}

/** How many times a run of vowels is followed by a consonant: Porter's m. */
function measure(text: string): number {
  return vowelMap(text).split("vc").length - 1;
}

/** Consonant, vowel, consonant at the end, the last not w, x or y: Porter's *o. */
function endsShort(text: string): boolean {
  return vowelMap(text).endsWith("cvc") && !/[wxy]$/.test(text);
}
