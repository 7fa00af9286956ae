import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  MAX_STEPS,
  parseFlow,
  stepKeys,
  type FlowPlan,
  type FlowStage,
  type FlowStep,
} from "../../src/core/flow.ts";

function plan(payload: string): FlowPlan["stages"] {
  const parsed = parseFlow(payload);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.plan.stages;
}

function step(key: string, body: string, bind: string | null = null): FlowStage {
  return { kind: "step", key, body, bind };
}

describe("steps", () => {
  it("are separated by > with any white space around", () => {
    expect(plan("LAST_REPLY_OF: $1\n> SEND: blooio|$2|$PREV")).toEqual([
      step("LAST_REPLY_OF", "$1"),
      step("SEND", "blooio|$2|$PREV"),
    ]);
    expect(plan("\r\n A:x\n\n>\n\tB :\n y \n")).toEqual([step("A", "x"), step("B", "y")]);
    expect(plan("A: x>B: y")).toEqual([step("A", "x"), step("B", "y")]);
  });

  it("may have an empty body, and a body with colons", () => {
    expect(plan("NOW:")).toEqual([step("NOW", "")]);
    expect(plan("GET: http://a/b:c")).toEqual([step("GET", "http://a/b:c")]);
  });

  it("bind their output by => NAME", () => {
    expect(plan("NOW: => T > ECHO: at $T=>U")).toEqual([
      step("NOW", "", "T"),
      step("ECHO", "at $T", "U"),
    ]);
  });

  it("keep an arrow as text where no name and end of step follows", () => {
    expect(plan("A: (x) => x + 1 > B: y")).toEqual([step("A", "(x) => x + 1"), step("B", "y")]);
    expect(plan("A: a =\\> b")).toEqual([step("A", "a => b")]);
    expect(plan("A: f => g => N")).toEqual([step("A", "f => g", "N")]);
    expect(plan("A: =>")).toEqual([step("A", "=>")]);
  });

  it("are not split by > inside quotes, brackets or braces", () => {
    for (const body of ['say "a > b"', "[a > b]", '{"a":">","b":["}"]}', '"\\" > "', "[{ > }]"]) {
      expect(plan(`A: ${body} > B: y`)).toEqual([step("A", body), step("B", "y")]);
    }
  });

  it("take \\> as a literal >, and leave what is quoted as it is", () => {
    expect(plan("A: a \\> b")).toEqual([step("A", "a > b")]);
    expect(plan("A: a \\\\> b")).toEqual([step("A", "a \\> b")]);
    expect(plan('A: {"re":"a\\\\>b"}')).toEqual([step("A", '{"re":"a\\\\>b"}')]);
    expect(plan('A: "=> N"')).toEqual([step("A", '"=> N"')]);
  });

  it("treat a quote or bracket without partner as text", () => {
    for (const body of ['5" wide', "[a", "a]", "{", "}{", "[a}", '\\"', '"\\"']) {
      expect(plan(`A: ${body} > B: y`), body).toEqual([step("A", body), step("B", "y")]);
    }
    expect(plan("A: { [ } > B: ]")).toEqual([step("A", "{ [ }"), step("B", "]")]);
    expect(plan("A: [ { ] > B: }")).toEqual([step("A", "[ { ]"), step("B", "}")]);
  });

  it("without a key and a colon are named in the error", () => {
    const errors = {
      "": "",
      "  ": "",
      "A: x >": "",
      "> A: x": "",
      "A: x > > B: y": "",
      "no colon here": "no colon here",
      "A: x > hello => N > B: y": "hello => N",
      ": x": ": x",
      "two words: x": "two words: x",
      "9A: x": "9A: x",
      "{ A: x | B: y": "{ A: x | B: y",
      "{ A: x } tail": "{ A: x } tail",
      "{}": "",
      "{ A: x | B: y | C: } => 9": "{ A: x | B: y | C: } => 9",
    };
    for (const [payload, text] of Object.entries(errors)) {
      expect(parseFlow(payload), payload).toEqual({
        ok: false,
        error: `ERR:flow:bad_step:${text}`,
      });
    }
  });

  it("are at most a hundred, branches counted", () => {
    const steps = (count: number) => Array.from({ length: count }, () => "A: x");
    expect(plan(steps(MAX_STEPS).join(" > "))).toHaveLength(100);
    expect(parseFlow(steps(101).join(" > "))).toEqual({ ok: false, error: "ERR:flow:steps" });
    expect(plan(`A: x > { ${steps(99).join(" | ")} }`)).toHaveLength(2);
    expect(parseFlow(`A: x > { ${steps(100).join(" | ")} }`)).toEqual({
      ok: false,
      error: "ERR:flow:steps",
    });
  });
});

describe("a block", () => {
  const branch = (key: string, body: string, bind: string | null = null) => ({ key, body, bind });

  it("holds branches that begin at ' | KEY:', and any other pipe belongs to a body", () => {
    expect(plan("{ A: x|y | z | B: 1|C: 2\n|\nD: w }")).toEqual([
      {
        kind: "block",
        branches: [branch("A", "x|y | z"), branch("B", "1|C: 2"), branch("D", "w")],
        bind: null,
      },
    ]);
    expect(plan('{ A: "p | Q: r" | B: [s | T: u] }')).toEqual([
      {
        kind: "block",
        branches: [branch("A", '"p | Q: r"'), branch("B", "[s | T: u]")],
        bind: null,
      },
    ]);
  });

  it("may be bound, as may its branches", () => {
    expect(plan("{ A: x => N | B: y } => ALL > C: $N $ALL")).toEqual([
      { kind: "block", branches: [branch("A", "x", "N"), branch("B", "y")], bind: "ALL" },
      step("C", "$N $ALL"),
    ]);
  });

  it("splits no branch at >", () => {
    expect(plan("{ A: x > y | B: a \\> b }")).toEqual([
      { kind: "block", branches: [branch("A", "x > y"), branch("B", "a > b")], bind: null },
    ]);
  });
});

describe("the keys of a flow", () => {
  it("are each named once, in order, branches included", () => {
    expect(stepKeys("A: x > { B: y | C: z } > A: w")).toEqual(["A", "B", "C"]);
  });

  it("are none when it does not parse", () => {
    expect(stepKeys("A: x > oops")).toEqual([]);
  });
});

describe("any plan", () => {
  /** Pieces of bodies: as written in a payload, and what they mean. */
  const piece = fc.oneof(
    fc
      .constantFrom("word", "$1", "$PREV", "é😀", "a|b", ",", "\\", ":", "=", "A:")
      .map((text) => [text, text]),
    fc.constantFrom(["\\>", ">"], ["x =\\> y", "x => y"], ["\\\\>", "\\>"]),
    fc
      .constantFrom('"a > b"', "[c => d > e]", '{"f":"} > \\" {"}', '" | K: "', "{}", "[[]]")
      .map((text) => [text, text]),
  );
  const body = fc.array(piece, { maxLength: 5 }).map((pieces) => ({
    source: pieces.map(([source]) => source).join(" "),
    text: pieces.map(([, text]) => text).join(" "),
  }));
  const name = fc.constantFrom("N", "_x", "Total2");
  const key = fc.constantFrom("A", "json_get", "X.y-z", "__T", "k9");
  const bind = fc.option(name, { nil: null });
  const one = fc.record({ key, body, bind });
  const stage = fc.oneof(
    one.map((step) => ({ steps: [step], block: false, bind: step.bind })),
    fc.record({
      steps: fc.array(one, { minLength: 1, maxLength: 4 }),
      block: fc.constant(true),
      bind,
    }),
  );
  const space = fc.constantFrom(" ", "\n", "\r\n  ", "\t");

  it("printed and parsed again is the same plan", () => {
    fc.assert(
      fc.property(fc.array(stage, { minLength: 1, maxLength: 6 }), space, (stages, gap) => {
        const arrow = (to: string | null) => (to === null ? "" : `${gap}=>${gap}${to}`);
        const printStep = (s: (typeof stages)[number]["steps"][number]) =>
          `${s.key}:${gap}${s.body.source}${arrow(s.bind)}`;
        const printed = stages
          .map((s) =>
            s.block
              ? `{${gap}${s.steps.map(printStep).join(`${gap}|${gap}`)}${gap}}${arrow(s.bind)}`
              : printStep(s.steps[0]!),
          )
          .join(`${gap}>${gap}`);
        const meant = (s: (typeof stages)[number]["steps"][number]): FlowStep => ({
          key: s.key,
          body: s.body.text,
          bind: s.bind,
        });
        const expected = stages.map((s) =>
          s.block
            ? { kind: "block", branches: s.steps.map(meant), bind: s.bind }
            : { kind: "step", ...meant(s.steps[0]!) },
        );
        expect(parseFlow(printed)).toEqual({ ok: true, plan: { stages: expected } });
      }),
      { numRuns: 300 },
    );
  });

  it("comes of any text without a throw", () => {
    const text = fc.string({
      unit: fc.constantFrom("A", ":", ">", "|", " ", '"', "[", "]", "{", "}", "\\", "=", "$", "\n"),
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, (payload) => void parseFlow(payload)),
      { numRuns: 500 },
    );
  });

  it("comes in a moment of 64 KiB of the worst text", () => {
    const worst = [
      '"',
      "[",
      "{",
      "]",
      '\\"',
      '"\\',
      "{[",
      "{ | A:",
      " => N",
      "A: x => ",
      "\\>",
      "=>",
      " | ",
      " ",
      "|  ",
      "A: > ",
      "{A:|\n",
    ];
    for (const unit of worst) {
      for (const [head, tail] of [
        ["", ""],
        ["A: ", '"'],
        ["{ A: ", "} => N"],
      ] as const) {
        const payload = `${head}${unit}`.padEnd(65_536, unit) + tail;
        const startMs = performance.now();
        parseFlow(payload);
        expect(performance.now() - startMs, unit).toBeLessThan(1_000);
      }
    }
  }, 30_000);
});
