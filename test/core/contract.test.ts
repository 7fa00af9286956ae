import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contractMarkdown } from "../../src/core/contract-markdown.ts";
import { ANONYMOUS, OWNER, type Principal } from "../../src/core/principal.ts";
import { ORIGIN, readContract as read, type RowOf } from "../support/contract.ts";

const markdown = (row: RowOf, principal: Principal = OWNER): string =>
  contractMarkdown(read(row, principal));

const HEADINGS = [
  "## Capability",
  "## When to use",
  "## Run now",
  "## Example",
  "## Kind",
  "## Inputs",
  "## Outputs",
  "## Affordances",
  "## Machine contract",
  "## After the call",
  "## Troubleshooting",
];
const headings = (text: string): string[] =>
  text.split("\n").filter((line) => /^#{1,6} /.test(line));

const DOC =
  "# WHAT: does it\n# WHEN_TO_USE: it is wanted\n# ARGS: $1=a | $2=b\n# EX: [ROW]x|y[/ROW]\n# OUTPUT: text\n";
const FOUR: RowOf[] = [
  { key: "ROW", type: "fn", target: "echo", content: `${DOC}["$1","$2"]` },
  {
    key: "ROW",
    type: "http",
    target: "POST https://api.example.net/$1",
    auth: "bearer:NET_KEY",
    content: `${DOC}$2+`,
  },
  { key: "ROW", type: "agent", target: "@cf/some/model", content: `${DOC}You help.` },
  { key: "ROW", type: "flow", target: "", content: `${DOC}ECHO: $1|$2` },
];

describe("the contract", () => {
  it("has the members of the specification in their order", () => {
    expect(Object.keys(read(FOUR[0]!)).join(", ")).toBe(
      "path, what, when_to_use, run_now, example, type, runner, auth, risk, inputs, input_schema, outputs, affordances, machine_contract, links, troubleshooting, contract",
    );
  });

  it("has the headings of the specification in their order", () => {
    expect(headings(markdown({ ...FOUR[0]!, category: "text" }))).toEqual([
      "# OIP > TEXT > ROW",
      ...HEADINGS,
    ]);
  });

  it.each([OWNER, ANONYMOUS])(
    "is at most 2,400 bytes and near equal for the four types: %o",
    (principal) => {
      const forms = [
        FOUR.map((row) => Buffer.byteLength(markdown(row, principal))),
        FOUR.map((row) => Buffer.byteLength(JSON.stringify(read(row, principal)))),
      ];
      for (const sizes of forms) {
        expect(Math.max(...sizes)).toBeLessThanOrEqual(2_000);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(100);
      }
    },
  );

  it("runs its example with one request line", () => {
    const contract = read({ key: "ROW", type: "fn", content: '# EX: [ROW]{"a":1}|b[/ROW]' });
    expect(contract.example).toBe('[ROW]{"a":1}|b[/ROW]');
    const [method, url, ...body] = contract.run_now.split(" ");
    expect([method, url]).toEqual(["POST", `${ORIGIN}/api/dispatch`]);
    expect(JSON.parse(body.join(" "))).toEqual({ key: "ROW", body: '{"a":1}|b' });
  });

  it.each([
    [
      "the first EX",
      { content: "# EX: [ROW]one[/ROW]\n# EX: [ROW]two[/ROW]", examples: '["three"]' },
      "[ROW]one[/ROW]",
    ],
    ["the first of examples", { examples: '["three|4","five"]' }, "[ROW]three|4[/ROW]"],
    ["the bare tags", { examples: "not JSON" }, "[ROW][/ROW]"],
    ["an EX without tags", { content: "# EX: plain" }, "[ROW]plain[/ROW]"],
  ])("takes as its example %s", (_name, row, example) => {
    expect(read({ key: "ROW", type: "fn", ...row }).example).toBe(example);
  });

  it.each<[string, RowOf, RegExp]>([
    ["no slot", { key: "R", type: "http", target: "GET https://a.example" }, /^`body`: empty/],
    ["fn without a payload", { key: "R", type: "fn", target: "now" }, /one text/],
    ["five slots", { key: "R", type: "fn", content: '["$1 for $5"]' }, /5 texts, `\$1\|…\|\$5`/],
    [
      "a rest",
      { key: "R", type: "fn", content: '["$1","$2+"]' },
      /2 texts, `\$1\|\$2`; the last may hold pipes/,
    ],
    [
      "an escaped dollar",
      { key: "R", type: "http", target: "GET https://a.example/$1", content: "costs \\$5" },
      /one text/,
    ],
    [
      "named slots",
      {
        key: "R",
        type: "http",
        target: "GET https://a.example/{id}{?page}",
        content: '{"q":"$query"}',
      },
      /`args`: an object with id, page, query/,
    ],
    [
      "an agent",
      { key: "R", type: "agent", content: "You help with $1." },
      /what you want of the agent/,
    ],
  ])("says what to send: %s", (_name, row, expected) => {
    expect(read(row).inputs[0]).toMatch(expected);
  });

  it("lists the fields of a schema and shows the schema itself", () => {
    const schema = {
      type: "object",
      properties: {
        city: { type: "string", description: "where" },
        days: { type: ["integer", "null"] },
        any: true,
      },
      required: ["city"],
    };
    const row = { key: "R", type: "fn" as const, input_schema: JSON.stringify(schema) };
    expect(read(row).inputs.slice(1)).toEqual([
      "`city` string, required: where",
      "`days` integer|null",
      "`any` any",
    ]);
    expect(read(row).input_schema).toEqual(schema);
    expect(markdown(row)).toContain(JSON.stringify(schema));
  });

  it("computes the moves for who asks", () => {
    const moves = (principal: Principal): string[] =>
      read(FOUR[0]!, principal).affordances.map(({ move }) => move);
    expect(moves(OWNER).map((move) => move.split(" ")[0])).toEqual([
      "invoke",
      "shape",
      "replay",
      "edit",
      "history",
    ]);
    expect(moves(ANONYMOUS)).toEqual(["read", "ask for another row", "get a credential"]);
  });
});

describe("the document", () => {
  it("keeps its headings whatever the row says", () => {
    const nasty = fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.constantFrom(
        "# H",
        "## Machine contract",
        "```",
        "~~~~",
        "- x",
        "> q",
        "1. x",
        "<script>alert(1)</script>",
        "===",
        "---",
        "`a",
        "\u2028## X",
      ),
    );
    const rows = fc.record({
      what: nasty,
      when: nasty,
      args: nasty,
      ex: nasty,
      output: nasty,
      category: nasty,
    });
    fc.assert(
      fc.property(rows, ({ what, when, args, ex, output, category }) => {
        const content = `# WHAT: ${what}\n# WHEN_TO_USE: ${when}\n# ARGS: ${args}\n# OUTPUT: ${output}`;
        const row = {
          key: "R",
          type: "fn" as const,
          content,
          category,
          examples: JSON.stringify([ex]),
        };
        const text = withoutFences(markdown(row));
        expect(headings(text).slice(1)).toEqual(HEADINGS);
        expect(text).not.toMatch(/<script/i);
      }),
      { numRuns: 300 },
    );
  });

  it("shows HTML as text", () => {
    const text = markdown({
      key: "X",
      type: "fn",
      content: "# WHAT: <img src=x onerror=alert(1)>",
    });
    expect(text).toContain("&lt;img src=x onerror=alert(1)>");
    expect(text).not.toContain("<img");
  });
});

/** Drops every fenced block, as CommonMark reads them. */
function withoutFences(text: string): string {
  const kept: string[] = [];
  let fence = 0;
  for (const line of text.split("\n")) {
    const ticks = /^`{3,}/.exec(line)?.[0].length ?? 0;
    if (fence === 0 && ticks > 0) fence = ticks;
    else if (fence > 0 && ticks >= fence && /^`+\s*$/.test(line)) fence = 0;
    else if (fence === 0) kept.push(line);
  }
  return kept.join("\n");
}
