import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { credentialIn } from "../../src/core/credential-shapes.ts";
import { makeGrammars } from "../../src/core/grammars.ts";
import { addedViolation, hygieneRefusal, violations } from "../../src/core/hygiene.ts";
import { completeRow } from "../../src/core/row-input.ts";
import type { Row } from "../../src/core/row.ts";

const grammars = makeGrammars((name) => name === "TERMINAL_KEY");
const WHAT = "# WHAT: tells the weather";

function row(values: Partial<Row>): Row {
  const { type = "fn" } = values;
  return {
    ...completeRow({ type, content: WHAT }),
    key: "W",
    updated_at: "u",
    created_at: "c",
    ...values,
  };
}

const broken = (values: Partial<Row>): string[] =>
  violations(row(values), grammars).map(({ rule, column }) => `${rule} ${column}`);

describe("a row that keeps the rules", () => {
  it.each<[string, Partial<Row>]>([
    ["fn", { target: "now" }],
    [
      "http",
      { type: "http", target: "GET https://api.example.com/v1?q=$1", auth: "bearer:API_KEY" },
    ],
    [
      "http with everything empty",
      {
        type: "http",
        target: "GET https://api.example.com/",
        auth: "",
        examples: "",
        input_schema: " ",
      },
    ],
    [
      "agent",
      {
        type: "agent",
        target: "@cf/some/model",
        content: `${WHAT}\nYou are kind.`,
        includes: "A,B",
      },
    ],
    ["flow", { type: "flow", content: `${WHAT}\nA: $1 > { B: x | C: y } => Z` }],
    [
      "sensitive with a schema",
      { sensitive: 1, input_schema: '{"type":"object","properties":{}}' },
    ],
    ["oauth", { type: "http", target: "GET https://api.example.com/", auth: "oauth:GRANT" }],
    ["examples", { examples: '["a|b",""]' }],
  ])("%s", (_name, values) => expect(broken(values)).toEqual([]));
});

describe("each rule", () => {
  it.each<[string, Partial<Row>]>([
    ["missing_description content", { content: null }],
    ["missing_description content", { content: "" }],
    ["missing_description content", { content: "no documentation" }],
    ["missing_description content", { content: "# ARGS: $1\n# WHAT:\nx" }],
    ["high_risk_missing_schema input_schema", { sensitive: 1 }],
    ["high_risk_missing_schema input_schema", { sensitive: 1, input_schema: "" }],
    ["invalid_schema input_schema", { input_schema: "none" }],
    ["invalid_schema input_schema", { input_schema: "[]" }],
    ["invalid_schema input_schema", { input_schema: "true" }],
    ["invalid_schema input_schema", { input_schema: '{"type":"object","properties":7}' }],
    ["invalid_examples examples", { examples: "a" }],
    ["invalid_examples examples", { examples: "[1]" }],
    ["invalid_examples examples", { examples: '{"a":"b"}' }],
    ["invalid_target target", { type: "http", target: null }],
    ["invalid_target target", { type: "http", target: "https://api.example.com" }],
    ["invalid_target content", { type: "flow", content: WHAT }],
    ["invalid_target content", { type: "flow", content: `${WHAT}\nno colon` }],
    [
      "invalid_target content",
      { type: "flow", content: `${WHAT}\n${Array(101).fill("A: x").join(" > ")}` },
    ],
    ["invalid_auth auth", { auth: "basicly:NAME" }],
    ["invalid_auth auth", { auth: "API_KEY" }],
    ["invalid_auth auth", { auth: "bearer:TERMINAL_KEY" }],
    ["invalid_auth auth", { auth: 'headers:{"x-key":"$TERMINAL_KEY"}' }],
    ["invalid_auth auth", { auth: "oauth:TERMINAL_KEY" }],
    ["invalid_auth auth", { auth: "oauth:" }],
  ])("%s", (violation, values) => expect(broken(values)).toEqual([violation]));

  it("comes in the order of the specification, and says how to mend the row", () => {
    const found = violations(
      row({ type: "http", content: "x", sensitive: 1, examples: "1", auth: "?" }),
      grammars,
    );
    expect(found.map(({ rule }) => rule)).toEqual([
      "missing_description",
      "high_risk_missing_schema",
      "invalid_examples",
      "invalid_target",
      "invalid_auth",
    ]);
    expect(found.every(({ how_to_fix }) => how_to_fix.length > 20)).toBe(true);
    expect(hygieneRefusal(found[0]!)).toEqual({
      status: 422,
      error: "registry_hygiene_refused: missing_description",
      hint: "",
      members: { how_to_fix: found[0]!.how_to_fix, state_changed: false },
    });
  });
});

describe("what a change adds", () => {
  const bare = violations(row({ content: "x" }), grammars);
  it("is nothing when the rule and the column were broken before", () => {
    expect(addedViolation(bare, violations(row({ content: "y" }), grammars))).toBeNull();
    expect(addedViolation(bare, [])).toBeNull();
  });
  it("is the first that is new by rule or by column", () => {
    const flow = violations(row({ type: "flow", content: "x" }), grammars);
    expect(addedViolation(bare, flow)).toMatchObject({ rule: "invalid_target", column: "content" });
    const http = violations(row({ type: "http", content: "x", target: "?" }), grammars);
    expect(addedViolation(flow, http)).toMatchObject({ rule: "invalid_target", column: "target" });
  });
});

/** Made up, and put together here so that no scanner takes this file for a leak. */
const alnum = (length: number): string => "a1B2c3D4e5F6g7H8".repeat(8).slice(0, length);
const hex = (length: number): string => "0a1b2c3d4e5f".repeat(8).slice(0, length);
const webhook = (slash: string): string =>
  ["https:", "", "hooks.slack.com", "services", "T0123456", "B0123456", alnum(24)].join(slash);
const CREDENTIALS: [string, string][] = [
  ["sk", `sk-${alnum(48)}`],
  ["anthropic", `sk-ant-api03-${alnum(40)}`],
  ["openai", `sk-proj-${alnum(40)}`],
  ["github", `ghp_${alnum(36)}`],
  ["github app", `ghs_${alnum(36)}`],
  ["github oauth", `gho_${alnum(36)}`],
  ["github user", `ghu_${alnum(36)}`],
  ["github fine", `github_pat_${alnum(22)}_${alnum(59)}`],
  ["gitlab", `glpat-${alnum(20)}`],
  ["slack bot", `xoxb-123456789012-${alnum(24)}`],
  ["slack user", `xoxp-12345-${alnum(20)}`],
  ["slack app", `xapp-1-A012345-${alnum(20)}`],
  ["aws", `AKIA${alnum(16).toUpperCase()}`],
  ["aws session", `ASIA${alnum(16).toUpperCase()}`],
  ["google", `AIza${alnum(35)}`],
  ["google oauth", `ya29.${alnum(40)}`],
  ["stripe", `sk_live_${alnum(24)}`],
  ["stripe restricted", `rk_live_${alnum(24)}`],
  ["stripe public", `pk_live_${alnum(24)}`],
  ["stripe hook", `whsec_${alnum(32)}`],
  ["sendgrid", `SG.${alnum(22)}.${alnum(43)}`],
  ["hugging face", `hf_${alnum(34)}`],
  ["npm", `npm_${alnum(36)}`],
  ["pypi", `pypi-AgEIcHlwaS5vcmc${alnum(40)}`],
  ["digitalocean", `dop_v1_${hex(64)}`],
  ["shopify", `shpat_${hex(32)}`],
  ["square", `sq0atp-${alnum(22)}`],
  ["xai", `xai-${alnum(80)}`],
  ["groq", `gsk_${alnum(52)}`],
  ["replicate", `r8_${alnum(37)}`],
  ["mailgun", `key-${hex(32)}`],
  ["telegram", `123456789:AA${alnum(33)}`],
  ["pem", `-----BEGIN ${"RSA "}PRIVATE KEY-----\nMIIE`],
  ["openssh", `-----BEGIN ${"OPENSSH "}PRIVATE KEY-----`],
  ["pgp", `-----BEGIN ${"PGP "}PRIVATE KEY BLOCK-----`],
  ["jwt", `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.${alnum(43)}`],
  ["bearer", `Authorization: Bearer ${alnum(20)}`],
  ["slack webhook", webhook("/")],
  ["bearer in a query", `?auth=bearer%20${alnum(24)}`],
];

describe("a credential in a row", () => {
  it.each(CREDENTIALS)("%s is found in text, in JSON, and spelt with escapes", (_name, value) => {
    expect(credentialIn(`set it to ${value} please`)).not.toBeNull();
    expect(credentialIn(JSON.stringify([`line\n${value}`]))).not.toBeNull();
    const escaped = [...value]
      .map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join("");
    expect(credentialIn(`"${escaped}"`)).not.toBeNull();
  });

  it.each<[keyof Row, Partial<Row>]>(
    (
      [
        "target",
        "auth",
        "content",
        "category",
        "allowed_categories",
        "input_schema",
        "examples",
        "runner",
        "includes",
      ] as const
    ).map((column) => [column, { [column]: `# WHAT: a ghp_${alnum(36)}` }]),
  )("is refused in the column %s", (column, values) => {
    expect(broken(values)).toContain(`secret_in_row ${column}`);
  });

  it("is found where JSON wrote a slash as an escape", () => {
    expect(credentialIn(`"${webhook("\\/")}"`)).not.toBeNull();
  });

  it("is refused as a key, and the refusal never repeats it", () => {
    const found = violations(row({ key: `xai-${alnum(40)}` }), grammars);
    expect(found.map(({ rule, column }) => [rule, column])).toEqual([["secret_in_row", "key"]]);
    expect(found[0]!.how_to_fix).not.toContain(alnum(12));
  });

  it.each([
    "Bearer $API_KEY",
    "Authorization: Bearer {token_of_the_service}",
    'headers:{"x-api-key":"$SOME_LONG_SECRET_NAME"}',
    "bearer:CLOUDFLARE_API_TOKEN_FOR_WORKERS",
    "a token that begins with sk- or ghp_ or xoxb- is refused",
    "xoxb-your-token-here",
    "the bearer of this letter",
    "sk-learn-random-forest-classifier",
    "task-abcdefghijklmnopqrstuvwxyz",
    "risk-adjustedreturnsonequity",
    "npm_install_and_build_everything_first",
    "github_pat_name_of_my_secret",
    "hf_model_card_of_this_dataset",
    `sha256:${hex(64)}`,
    hex(40),
    `cache-key-${hex(32)}`,
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "eyJ is how a token begins",
    "eyJhbGciOiJIUzI1NiJ9",
    "AKIA is a prefix",
    "SG.1",
    "KEY-VALUE",
    "monkey-0123456789abcdef",
    "$SK_LIVE_KEY",
    "sk_live_$NAME",
    "https://api.example.com/v1/keys?id=key-1",
  ])("is not seen in %s", (text) => expect(credentialIn(text)).toBeNull());

  it("is looked for in linear time", () => {
    const pieces = [
      "eyJ",
      "eyJa.",
      "sk-",
      "SG.a",
      "Bearer ",
      "Bearer a",
      "-----BEGIN A ",
      "\\u0073",
      "\\",
      "xoxb-",
      "AKIA",
      "ghp_",
      "key-",
      "1234567890:",
    ];
    for (const piece of pieces) {
      const text = piece.repeat(Math.ceil(600_000 / piece.length));
      const begun = performance.now();
      credentialIn(text);
      expect(performance.now() - begun, piece).toBeLessThan(1_500);
    }
  });
});

it("no row makes the rules throw", () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom("{", "[]", "headers:{", "GET ", "A: > B", '{"$ref":"#"}', null),
  );
  fc.assert(
    fc.property(
      fc.record({
        type: fc.constantFrom("fn", "http", "agent", "flow"),
        target: text,
        auth: text,
        content: text,
        input_schema: text,
        examples: text,
      }),
      (values) => void violations(row(values as Partial<Row>), grammars),
    ),
    { numRuns: 300 },
  );
});
