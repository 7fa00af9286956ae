const OPEN = "[REPLY]";
const CLOSE = "[/REPLY]";

/** The inside of the last complete `[REPLY]…[/REPLY]` of a model's text, exactly as written; null without one. */
export function lastReply(text: string): string | null {
  const lastClose = text.lastIndexOf(CLOSE);
  const open = lastClose < 0 ? -1 : text.lastIndexOf(OPEN, lastClose);
  if (open < 0) return null;
  const start = open + OPEN.length;
  return text.slice(start, text.indexOf(CLOSE, start));
}
