/** Shortest term that is mended: in four letters every slip is another word. */
const MIN_LENGTH = 5;

export interface KnownTerm {
  term: string;
  /** Rows that hold it. */
  rows: number;
}

/**
 * Slips that a term may have: below six letters one, which is a swap, a missing or an extra letter (so
 * that `paris` never becomes `parks`); from six one of any kind; from nine two. Zero: not mended.
 */
export function slipsAllowed(term: string): number {
  if (term.length < MIN_LENGTH) return 0;
  return term.length < 9 ? 1 : 2;
}

/** The known term nearest to `term` within its allowance; the more common one wins. Null: none. */
export function nearestTerm(term: string, known: Iterable<KnownTerm>): KnownTerm | null {
  const allowed = slipsAllowed(term);
  let best: (KnownTerm & { slips: number }) | null = null;
  for (const { term: other, rows } of known) {
    if (other.length < MIN_LENGTH - 1) continue;
    const slips = editDistance(term, other, allowed);
    if (slips > allowed || (term.length < 6 && isReplaced(term, other))) continue;
    if (!best || slips < best.slips || (slips === best.slips && rows > best.rows)) {
      best = { term: other, slips, rows };
    }
  }
  return best && { term: best.term, rows: best.rows };
}

/** Of equal length and no swap: one letter stands for another. */
function isReplaced(left: string, right: string): boolean {
  return left.length === right.length && [...left].sort().join("") !== [...right].sort().join("");
}

/**
 * Damerau-Levenshtein distance with swaps of neighbours; `max + 1` stands for everything
 * above `max`. Cost: length × length of two terms, both bounded by ask-text.ts.
 */
export function editDistance(left: string, right: string, max: number): number {
  if (Math.abs(left.length - right.length) > max) return max + 1;
  let older: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        previous[column]! + 1,
        current[column - 1]! + 1,
        previous[column - 1]! + (same ? 0 : 1),
      );
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) cost = Math.min(cost, older[column - 2]! + 1);
      current.push(cost);
      least = Math.min(least, cost);
    }
    if (least > max) return max + 1;
    older = previous;
    previous = current;
  }
  return Math.min(previous[right.length]!, max + 1);
}
