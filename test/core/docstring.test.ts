import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDocstring } from "../../src/core/docstring.ts";

describe("a docstring", () => {
  it("gives each label its text and leaves the payload", () => {
    const content = [
      "# WHAT: Sends a note.",
      "# WHEN_TO_USE: you have something to say",
      "#   and somebody to say it to.",
      "# ARGS: $1=to | $2=text",
      "# EX: [NOTE]ada|hello[/NOTE]",
      "# EX: [NOTE]bob|bye[/NOTE]",
      "# OUTPUT: nothing",
      '{"to":"$1",',
      '"text":"$2"}',
    ].join("\n");
    expect(parseDocstring(content)).toEqual({
      what: "Sends a note.",
      whenToUse: "you have something to say and somebody to say it to.",
      args: "$1=to | $2=text",
      examples: ["[NOTE]ada|hello[/NOTE]", "[NOTE]bob|bye[/NOTE]"],
      output: "nothing",
      payload: '{"to":"$1",\n"text":"$2"}',
    });
  });

  it("counts unlabelled lines before any label as WHAT", () => {
    const doc = parseDocstring("# Takes the last answer\n#   out of a text.\n# ARGS: text\nA: $1");
    expect(doc).toMatchObject({
      what: "Takes the last answer out of a text.",
      args: "text",
      payload: "A: $1",
    });
  });

  it("finds documentation lines below the payload too, and reads CR LF", () => {
    expect(parseDocstring("a\r\n# WHAT: b\r\nc")).toMatchObject({ what: "b", payload: "a\nc" });
  });

  it.each([null, "", "payload only", " # indented is payload"])("%j has no WHAT", (content) => {
    expect(parseDocstring(content).what).toBe("");
  });

  it("never leaves a line that begins with # in the payload", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.string().map((text) => `#${text}`),
          ),
        ),
        (lines) => {
          const { payload } = parseDocstring(lines.join("\n"));
          expect(
            payload
              .split("\n")
              .slice(1)
              .some((line) => line.startsWith("#")),
          ).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });
});
