/** Longer texts are made anew each time, so that a memory of many is small whatever stands in them. */
const MAX_CHARS = 8_192;

/**
 * Remembers what a pure function made of a text. Bounded: when it is full it starts anew, which costs the
 * busy texts one more computation each and needs no bookkeeping per use.
 */
export function memo<T>(make: (text: string) => T, max: number): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    if (text.length > MAX_CHARS) return make(text);
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = make(text);
    if (known.size >= max) known.clear();
    known.set(text, made);
    return made;
  };
}
