import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { termsToLookUp } from "../../src/core/ask-rank.ts";
import { matchExpression, MAX_QUESTION_BYTES, readQuestion } from "../../src/core/ask-text.ts";

/** The Big List of Naughty Strings. `CORPUS` names the folder that holds `blns.json`. */
const folder = process.env.CORPUS ?? path.join(import.meta.dirname, "../../../shared/files");
const strings = JSON.parse(readFileSync(path.join(folder, "blns.json"), "utf8")) as string[];

it.each(strings.map((text) => [text]))(
  "becomes an FTS5 expression of quoted terms only: %j",
  (text) => {
    const question = readQuestion(text);
    expect(Buffer.byteLength(question.text)).toBeLessThanOrEqual(MAX_QUESTION_BYTES);
    const expression = matchExpression(termsToLookUp(question));
    expect(expression).toMatch(
      /^(?:"[\p{L}\p{M}\p{N}\uFFFD]+"(?: OR "[\p{L}\p{M}\p{N}\uFFFD]+")*)?$/u,
    );
    expect(expression.isWellFormed()).toBe(true);
  },
);
