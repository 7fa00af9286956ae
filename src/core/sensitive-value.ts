/**
 * Finds the value that belongs to a sensitive name in a text of unknown kind. Quoted text may itself lie
 * inside a JSON string, inside another, and so on: there each quote wears `depth` backslashes, 0, 1, 3, 7,
 * and that number tells which quote closes what.
 */
/** What stands in the place of a value taken out by its name. */
export const MARK = "[redacted]";
/** Deeper quoting than this is hostile, not JSON. */
const MAX_DEPTH = 15;

const LITERAL = /(?:-?\d[\d.eE+-]*|true|false|null)(?![^\s,;&}\]"'\\])/y;
const SPACE = /[ \t\r\n]*/y;
const BLANK = /[ \t]*/y;
const PAIR_END = /[&\s"'<>#;\\`]/g;
const LINE_END = /[\r\n]/g;
const STRING_OR_BRACKET = /["{}[\]]/g;
const LINE_MARK = /["\r\n\\]/g;

export interface Span {
  from: number;
  to: number;
  text: string;
}

/** The span after the name at `start`..`end` that must go, null for none. `counts`: keep numbers and booleans. */
export function valueAfter(text: string, start: number, end: number, counts: boolean): Span | null {
  const depth = countBackslashes(text, end);
  const quote = text[end + depth];
  const quotedName =
    (quote === '"' || quote === "'") && depth <= MAX_DEPTH && opensWith(text, start, quote, depth);
  if (quotedName) {
    const colon = skip(SPACE, text, end + depth + 1);
    return text[colon] === ":"
      ? jsonValue(text, skip(SPACE, text, colon + 1), depth, counts)
      : null;
  }
  const sign = skip(BLANK, text, end);
  if (text[sign] === "=") return pairValue(text, sign + 1, counts);
  if (text[sign] === ":") return lineValue(text, start, skip(BLANK, text, sign + 1), counts);
  return null;
}

function jsonValue(text: string, at: number, depth: number, counts: boolean): Span | null {
  const worn = countBackslashes(text, at);
  const quote = text[at + worn];
  if (worn === depth && (quote === '"' || quote === "'")) {
    return span(at + depth + 1, closing(text, at + depth + 1, quote, depth));
  }
  if (text[at] === "{" || text[at] === "[") return container(text, at, depth, counts);
  const literal = matchAt(LITERAL, text, at);
  if (literal === "" || literal === "null" || counts) return null;
  return span(at, at + literal.length, quoted(depth));
}

/** An object or array: all of it, or with `counts` each string in it that is no member's name. */
function container(text: string, at: number, depth: number, counts: boolean): Span {
  const parts: string[] = [];
  let copied = at;
  let open = 0;
  let end = text.length;
  STRING_OR_BRACKET.lastIndex = at;
  for (
    let mark = STRING_OR_BRACKET.exec(text);
    mark !== null;
    mark = STRING_OR_BRACKET.exec(text)
  ) {
    if (mark[0] === '"') {
      const from = mark.index + 1;
      const to = closing(text, from, '"', depth);
      const after = Math.min(to + depth + 1, text.length);
      STRING_OR_BRACKET.lastIndex = after;
      if (text[skip(SPACE, text, after)] === ":") continue;
      parts.push(text.slice(copied, from), MARK);
      copied = to;
    } else if (mark[0] === "{" || mark[0] === "[") {
      open += 1;
    } else if ((open -= 1) === 0) {
      end = mark.index + 1;
      break;
    }
  }
  if (!counts) return { from: at, to: end, text: quoted(depth) };
  parts.push(text.slice(copied, end));
  return { from: at, to: end, text: parts.join("") };
}

/** `name=value` of a query, a form, a cookie or an environment file. */
function pairValue(text: string, at: number, counts: boolean): Span | null {
  const quote = text[at];
  if (quote === '"' || quote === "'") return span(at + 1, closing(text, at + 1, quote, 0));
  if (counts && matchAt(LITERAL, text, at) !== "") return null;
  return span(at, search(PAIR_END, text, at));
}

/** `Name: value` at the beginning of a line or of a string; elsewhere it is prose, unless the value is quoted. */
function lineValue(text: string, start: number, at: number, counts: boolean): Span | null {
  if (counts && matchAt(LITERAL, text, at) !== "") return null;
  const before = text[start - 1];
  if (before === '"') {
    const depth = countBackslashesBefore(text, start - 1);
    return span(at, lineEndInString(text, at, Math.min(depth, MAX_DEPTH)));
  }
  const escaped = /[nr]/.test(before ?? "") ? countBackslashesBefore(text, start - 1) : 0;
  if (escaped > 0) return span(at, lineEndInString(text, at, Math.min(escaped - 1, MAX_DEPTH)));
  if (beginsLine(text, start)) return span(at, search(LINE_END, text, at));
  const quote = text[at];
  return quote === '"' || quote === "'" ? span(at + 1, closing(text, at + 1, quote, 0)) : null;
}

/** Only blanks and the marks of a transcript (`> `, `< `, `- `) stand between the line's beginning and here. */
function beginsLine(text: string, start: number): boolean {
  let at = start;
  while (at > 0 && start - at < 64 && " \t><-*".includes(text[at - 1]!)) at -= 1;
  return at === 0 || text[at - 1] === "\n" || text[at - 1] === "\r";
}

/**
 * Where the string that wears `depth` backslashes ends: its own quote has `depth` of them beyond any
 * escaped backslashes, fewer belong to a string around it. The end of the text if it was cut off.
 */
function closing(text: string, from: number, quote: string, depth: number): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 1)) {
    const worn = countBackslashesBefore(text, at, from) % (2 * (depth + 1));
    if (worn <= depth) return at - worn;
  }
  return text.length;
}

/** The end of a line inside a JSON string: a line break, escaped at that depth, or the string's own end. */
function lineEndInString(text: string, from: number, depth: number): number {
  LINE_MARK.lastIndex = from;
  for (let mark = LINE_MARK.exec(text); mark !== null; mark = LINE_MARK.exec(text)) {
    if (mark[0] !== '"' && mark[0] !== "\\") return mark.index;
    const run = countBackslashes(text, mark.index);
    const after = mark.index + run;
    const worn = run % (2 * (depth + 1));
    if (text[after] === '"' && worn <= depth) return after - worn;
    if (/[nr]/.test(text[after] ?? "") && worn === depth + 1) return after - worn;
    LINE_MARK.lastIndex = after + 1;
  }
  return text.length;
}

function opensWith(text: string, start: number, quote: string, depth: number): boolean {
  return text[start - 1] === quote && countBackslashesBefore(text, start - 1) >= depth;
}

function countBackslashes(text: string, from: number): number {
  let at = from;
  while (text[at] === "\\") at += 1;
  return at - from;
}

function countBackslashesBefore(text: string, before: number, from = 0): number {
  let at = before;
  while (at > from && text[at - 1] === "\\") at -= 1;
  return before - at;
}

function span(from: number, to: number, text = MARK): Span | null {
  return to > from ? { from, to, text } : null;
}

function quoted(depth: number): string {
  const mark = `${"\\".repeat(depth)}"`;
  return `${mark}${MARK}${mark}`;
}

function skip(blank: RegExp, text: string, at: number): number {
  return at + matchAt(blank, text, at).length;
}

function matchAt(sticky: RegExp, text: string, at: number): string {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0] ?? "";
}

function search(global: RegExp, text: string, from: number): number {
  global.lastIndex = from;
  return global.exec(text)?.index ?? text.length;
}
