import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

/** The naughty strings as questions to a running deployment; `ROWCALL_URL` is its origin. */
const base = process.env.ROWCALL_URL;
const folder = process.env.CORPUS ?? path.join(import.meta.dirname, "../../../shared/files");
const strings = JSON.parse(readFileSync(path.join(folder, "blns.json"), "utf8")) as string[];

describe.runIf(base)("a question over HTTP", () => {
  it.each(strings.map((text) => [text]))("answers 200, or 400 when blank: %j", async (text) => {
    const answer = await fetch(
      `${base}/api/dispatch?ask=${encodeURIComponent(text.toWellFormed())}`,
    );
    const body = (await answer.json()) as { kind?: string; error?: string; candidates?: unknown[] };
    if (text.trim() === "") {
      expect([answer.status, body.error]).toEqual([400, "blank_question"]);
      return;
    }
    expect([answer.status, body.kind]).toEqual([200, "ask"]);
    expect(body.candidates!.length).toBeLessThanOrEqual(12);
  });
});
