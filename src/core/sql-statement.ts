export type ReadStatement = { ok: true; sql: string } | { ok: false; reason: string };

/**
 * Reads the one statement of a text the way SQLite's tokenizer does, and refuses what could hide a
 * second one, since D1 runs whatever follows a top-level `;`. Refused as well: statements that do not
 * begin like a query (some PRAGMAs act while they are compiled, before EXPLAIN could tell), and `$`,
 * `@`, `:` and `#` outside of quotes, whose Tcl form `$x(')` would let a quote open for this reader that
 * SQLite never sees. Whether the statement writes is for EXPLAIN to say. `sql` has no closing `;`.
 */
export function readStatement(text: string): ReadStatement {
  if (text.includes("\0")) return refuse("character_nul");
  let first = -1;
  let end = text.length;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    const comment = commentEnd(text, at);
    if (comment !== null) {
      if (comment < 0) return refuse("unterminated_comment");
      at = comment;
      continue;
    }
    if (/\s/.test(char)) continue;
    if (char === ";") {
      if (text.slice(at + 1).trim() !== "") return refuse("more_than_one_statement");
      end = at;
      break;
    }
    if (first < 0) first = at;
    if ("$@:#".includes(char)) return refuse("named_parameter: bind values with ?");
    const quote = CLOSING[char];
    if (quote === undefined) continue;
    // A doubled quote closes and opens again, which comes to the same.
    at = text.indexOf(quote, at + 1);
    if (at < 0) return refuse("unterminated_quote");
  }
  if (first < 0) return refuse("empty_statement");
  if (!QUERY.test(text.slice(first, first + 8))) return refuse("not_read_only");
  return { ok: true, sql: text.slice(0, end) };
}

const QUERY = /^(?:select|with|values)\b/i;

const CLOSING: { [opening: string]: string | undefined } = Object.assign(Object.create(null), {
  "'": "'",
  '"': '"',
  "`": "`",
  "[": "]",
});

/** Last index of the comment that begins at `at`; -1 when it never ends, null when none begins. */
function commentEnd(text: string, at: number): number | null {
  if (text.startsWith("--", at)) {
    const newline = text.indexOf("\n", at);
    return newline < 0 ? text.length - 1 : newline;
  }
  if (!text.startsWith("/*", at)) return null;
  const close = text.indexOf("*/", at + 2);
  return close < 0 ? -1 : close + 1;
}

function refuse(reason: string): ReadStatement {
  return { ok: false, reason };
}
