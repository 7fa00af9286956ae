/** The longest beginning of `text` that has at most `maxBytes` UTF-8 bytes and splits no code point. */
export function cutUtf8(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes
    ? text
    : bytes.subarray(0, boundaryAt(bytes, maxBytes)).toString();
}

/**
 * A page of a text: bytes from `offset` on, at most `maxBytes`, both moved back to the nearest beginning
 * of a code point. `next` is the offset of the following page, null at the end.
 */
export function pageUtf8(
  text: string,
  offset: number,
  maxBytes: number,
): { page: string; next: number | null } {
  const bytes = Buffer.from(text);
  const start = boundaryAt(bytes, Math.min(offset, bytes.length));
  const end = boundaryAt(bytes, Math.min(start + maxBytes, bytes.length));
  return { page: bytes.subarray(start, end).toString(), next: end < bytes.length ? end : null };
}

/** Continuation bytes look like 10xxxxxx: a cut before one of them would split a code point. */
function boundaryAt(bytes: Uint8Array, index: number): number {
  let at = index;
  while (at > 0 && at < bytes.length && (bytes[at]! & 0xc0) === 0x80) at--;
  return at;
}
