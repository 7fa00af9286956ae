import { KEY_PATTERN } from "./row.ts";

/**
 * The grammar of a flow's payload (SPEC §5): text -> plan, in linear time, without any value put in.
 * So a value that holds `>`, `|` or `=>` can never change which steps run.
 *
 *   flow   = stage *( ">" stage )              at most MAX_STEPS steps, counted over branches
 *   stage  = step | "{" step *( " | " step ) "}" [ "=>" NAME ]
 *   step   = KEY ":" body [ "=>" NAME ]
 *
 * What is quoted, bracketed or braced is verbatim. Elsewhere `\>` is a plain `>`, `\"` opens no quote,
 * and `=>` that no NAME and end of step follows is text. A quote or bracket without its partner is text.
 */
export interface FlowStep {
  key: string;
  /** Template of the step's arguments in the pipe grammar, not yet split. */
  body: string;
  /** Name under which later stages see the output; null for none. */
  bind: string | null;
}

/** A block's branches run at once; each may bind its own output, seen by the stages after the block. */
export type FlowStage =
  | ({ kind: "step" } & FlowStep)
  | { kind: "block"; branches: FlowStep[]; bind: string | null };

export interface FlowPlan {
  stages: FlowStage[];
}

export type ParsedFlow = { ok: true; plan: FlowPlan } | { ok: false; error: string };

export const MAX_STEPS = 100;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const BRANCH = /\|\s+[A-Za-z_][A-Za-z0-9_.-]{0,127}:/y;

/** Text with its non-plain stretches: first index -> last index. Stretches nest and never cross. */
interface Source {
  text: string;
  spans: ReadonlyMap<number, number>;
}

interface Range {
  start: number;
  end: number;
}

export function parseFlow(payload: string): ParsedFlow {
  const source = { text: payload, spans: markSpans(payload) };
  const isStep = (at: number): boolean => payload[at] === ">";
  const stages: FlowStage[] = [];
  let count = 0;
  for (const range of split(source, { start: 0, end: payload.length }, isStep)) {
    const block = readBlock(source, range);
    const steps: FlowStep[] = [];
    for (const part of block?.branches ?? [range]) {
      const step = readStep(source, part);
      if (!step)
        return { ok: false, error: `ERR:flow:bad_step:${payload.slice(part.start, part.end)}` };
      if (++count > MAX_STEPS) return { ok: false, error: "ERR:flow:steps" };
      steps.push(step);
    }
    stages.push(
      block ? { kind: "block", branches: steps, bind: block.bind } : { kind: "step", ...steps[0]! },
    );
  }
  return { ok: true, plan: { stages } };
}

/** Every key that a flow calls, once each, in order; none when the payload does not parse. */
export function stepKeys(payload: string): string[] {
  const parsed = parseFlow(payload);
  if (!parsed.ok) return [];
  const steps = parsed.plan.stages.flatMap((stage) =>
    stage.kind === "block" ? stage.branches : [stage],
  );
  return [...new Set(steps.map((step) => step.key))];
}

/** The branches of a stage that is one braced block, optionally bound; null when it is an ordinary step. */
function readBlock(
  source: Source,
  range: Range,
): { branches: Range[]; bind: string | null } | null {
  const { text, spans } = source;
  if (text[range.start] !== "{") return null;
  const { rest, bind } = readBind(source, range);
  if (spans.get(rest.start) !== rest.end - 1) return null;
  const isBranch = (at: number): boolean => {
    BRANCH.lastIndex = at;
    return text[at] === "|" && /\s/.test(text[at - 1]!) && BRANCH.test(text);
  };
  return { branches: split(source, { start: rest.start + 1, end: rest.end - 1 }, isBranch), bind };
}

/** Null when the text before the first colon is no key, which includes that there is no colon. */
function readStep(source: Source, range: Range): FlowStep | null {
  const { rest, bind } = readBind(source, range);
  const text = source.text.slice(rest.start, rest.end);
  const colon = text.indexOf(":");
  const key = text.slice(0, Math.max(colon, 0)).trim();
  if (!KEY_PATTERN.test(key)) return null;
  return { key, body: literal(source, { start: rest.start + colon + 1, end: rest.end }), bind };
}

/** Takes `=> NAME` off the end of a stage. */
function readBind(source: Source, range: Range): { rest: Range; bind: string | null } {
  const { text, spans } = source;
  let arrow = -1;
  for (let at = range.start; at < range.end; at++) {
    if (text[at] === "=" && spans.has(at)) arrow = at;
    at = spans.get(at) ?? at;
  }
  const name = arrow < 0 ? "" : text.slice(arrow + 2, range.end).trim();
  if (!NAME.test(name)) return { rest: range, bind: null };
  return { rest: trim(text, { start: range.start, end: arrow }), bind: name };
}

/** The trimmed parts of a range between the one-character separators that stand outside of any span. */
function split(source: Source, range: Range, isSeparator: (at: number) => boolean): Range[] {
  const { text, spans } = source;
  const parts: Range[] = [];
  let { start } = range;
  for (let at = start; at < range.end; at++) {
    const close = spans.get(at);
    if (close !== undefined) at = close;
    else if (isSeparator(at)) {
      parts.push(trim(text, { start, end: at }));
      start = at + 1;
    }
  }
  parts.push(trim(text, { start, end: range.end }));
  return parts;
}

/** The trimmed text of a range with each `\>` outside of quotes and brackets turned into `>`. */
function literal({ text, spans }: Source, range: Range): string {
  const { start, end } = trim(text, range);
  let out = "";
  let copied = start;
  for (let at = start; at < end; at++) {
    const close = spans.get(at);
    if (close === undefined) continue;
    if (text[at] === "\\") {
      out += text.slice(copied, at);
      copied = close;
    }
    at = close;
  }
  return out + text.slice(copied, end);
}

function trim(text: string, { start, end }: Range): Range {
  const part = text.slice(start, end);
  const from = start + part.length - part.trimStart().length;
  return { start: from, end: Math.max(from, start + part.trimEnd().length) };
}

/**
 * Marks quotes, brackets, braces, `\>` and `=>`. Linear: at most one quote finds no partner (whatever
 * quote came after it would have been that partner), and each bracket is pushed and popped once.
 */
function markSpans(text: string): Map<number, number> {
  const spans = new Map<number, number>();
  const open: number[] = [];
  const depth = { "[": 0, "{": 0 };
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    const next = text[at + 1];
    if ((char === "\\" || char === "=") && next === ">") {
      spans.set(at, at + 1);
      at++;
    } else if (char === "\\" && next === '"') at++;
    else if (char === '"') {
      const close = closingQuote(text, at);
      if (close < 0) continue;
      spans.set(at, close);
      at = close;
    } else if (char === "[" || char === "{") {
      open.push(at);
      depth[char]++;
    } else if (char === "]" || char === "}") {
      const opener = char === "]" ? "[" : "{";
      if (depth[opener] === 0) continue;
      // Openers of the other kind above the partner have none of their own: they are text.
      let from: number;
      do {
        from = open.pop()!;
        depth[text[from] as "[" | "{"]--;
      } while (text[from] !== opener);
      spans.set(from, at);
    }
  }
  return spans;
}

/** Inside quotes a backslash takes the next character along, as in JSON. */
function closingQuote(text: string, opening: number): number {
  for (let at = opening + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return -1;
}
