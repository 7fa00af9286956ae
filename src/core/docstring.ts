/**
 * The documentation lines of a row's content. Lines that begin with `#` are documentation; what is
 * left is the payload. Unlabelled lines before any label count as WHAT, later ones continue the label
 * above them (EX lines stand alone).
 */
export interface Docstring {
  what: string;
  whenToUse: string;
  args: string;
  examples: string[];
  output: string;
  payload: string;
}

const LABEL = /^#\s*(WHAT|WHEN_TO_USE|ARGS|EX|OUTPUT|GOVERNOR)\s*:[ \t]*(.*)$/;

type Label = "WHAT" | "WHEN_TO_USE" | "ARGS" | "EX" | "OUTPUT" | "GOVERNOR";

export function parseDocstring(content: string | null): Docstring {
  const texts: Record<Label, string[]> = {
    WHAT: [],
    WHEN_TO_USE: [],
    ARGS: [],
    EX: [],
    OUTPUT: [],
    GOVERNOR: [],
  };
  const payload: string[] = [];
  let current: Label = "WHAT";
  for (const line of (content ?? "").split(/\r?\n/)) {
    if (!line.startsWith("#")) {
      payload.push(line);
      continue;
    }
    const match = LABEL.exec(line);
    if (match) current = match[1] as Label;
    else if (current === "EX") continue;
    const text = (match ? match[2]! : line.slice(1)).trim();
    if (text) texts[current].push(text);
  }
  return {
    what: texts.WHAT.join(" "),
    whenToUse: texts.WHEN_TO_USE.join(" "),
    args: texts.ARGS.join(" "),
    examples: texts.EX,
    output: texts.OUTPUT.join(" "),
    payload: payload.join("\n").trim(),
  };
}
