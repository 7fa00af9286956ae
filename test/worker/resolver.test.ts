import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { makeAsk, MAX_CANDIDATES } from "../../src/resolver/ask.ts";

const db = env.DB;
const ask = makeAsk(db);

const CATALOGUE: [key: string, what: string, more?: string][] = [
  ["mergePdf", "Merge several PDF files into one document"],
  ["splitPdf", "Split one PDF file at the given pages"],
  ["sendInvoice", "Send an invoice to a customer"],
  ["getWeatherForecast", "Weather forecast for a city over the next days"],
  ["convertCurrency", "Convert an amount from one currency to another"],
  ["crm_addPerson", "Add a person to the address list"],
  ["crm_addActivity", "Log an activity of a person"],
  ["git_log", "Show the commits of a repository"],
  ["listIssues", "List the open issues of a project"],
  ["base64_encode", "Encode bytes as base64 text"],
  ["tenki_yohou", "天気予報を都市ごとに調べる"],
  ["summarise", "Summarise a long text", "# WHEN_TO_USE: a meeting has left too many notes"],
  ["orders.get", "Read one order", "# ARGS: $1=tracking number"],
];

const insert = db.prepare(
  "insert into directory (key, type, target, content, updated_at) values (?, 'fn', 'echo', ?, '2026')",
);
const docOf = (what: string, more = ""): string => `# WHAT: ${what}\n${more}`;
const keysOf = async (question: string): Promise<string[]> =>
  (await ask(question)).candidates.map(({ row }) => row.key);
const bestOf = async (question: string): Promise<string | undefined> =>
  (await ask(question)).best?.key;

beforeAll(async () => {
  await db.batch(CATALOGUE.map(([key, what, more]) => insert.bind(key, docOf(what, more))));
});

describe("the resolver", () => {
  it.each([
    ["invoices", "sendInvoice"],
    ["sending an invoice", "sendInvoice"],
    ["what is the weather going to be like in Paris before the weekend?", "getWeatherForecast"],
    ["please could you merge my pdfs", "mergePdf"],
  ])("knows word forms and drops words of asking: %s", async (question, key) => {
    expect(await bestOf(question)).toBe(key);
  });

  it.each(["the", "?", "AND", "*", '"', "🙂", "what is it"])(
    "has no row, and a hint, for %s",
    async (question) => {
      const { best, candidates, hint } = await ask(question);
      expect({ best, candidates }).toEqual({ best: null, candidates: [] });
      expect(hint).toMatch(/\w/);
    },
  );

  it("holds to word boundaries: is is not issue, car is not card", async () => {
    expect(await keysOf("is")).toEqual([]);
    expect(await keysOf("iss")).toEqual([]);
    expect(await keysOf("issue")).toEqual(["listIssues"]);
  });

  it.each([
    ["addPerson", "crm_addPerson"],
    ["crm_addPerson", "crm_addPerson"],
    ["add person", "crm_addPerson"],
    ["ADDPERSON", "crm_addPerson"],
    ["person", "crm_addPerson"],
    ["pdf merge", "mergePdf"],
    ["  pdf    merge ", "mergePdf"],
    ["base64", "base64_encode"],
    ["base 64", "base64_encode"],
    ["list_issues", "listIssues"],
    ["LIST_ISSUES", "listIssues"],
    ["orders.get", "orders.get"],
  ])("splits identifiers: %s", async (question, key) => {
    expect(await bestOf(question)).toBe(key);
  });

  it("calls the question that is a key certain", async () => {
    for (const question of ["crm_addActivity", "CRM ADD ACTIVITY", "crmAddActivity"]) {
      expect((await ask(question)).best).toEqual({ key: "crm_addActivity", confidence: 1 });
    }
  });

  it("reads every documented field", async () => {
    expect(await bestOf("meeting notes")).toBe("summarise");
    expect(await bestOf("tracking number")).toBe("orders.get");
  });

  it.each(["天気", "天気予報", "パリの天気"])(
    "reads scripts without spaces: %s",
    async (question) => {
      expect(await bestOf(question)).toBe("tenki_yohou");
    },
  );

  it.each(["previsão do tempo", "Wetter", "погода", "الطقس", "मौसम", "อากาศ"])(
    "finds nothing rather than a chance row for a language that no row speaks: %s",
    async (question) => {
      expect(await keysOf(question)).toEqual([]);
    },
  );

  it.each([
    ["invocies", "sendInvoice"],
    ["wether forcast", "getWeatherForecast"],
    ["curency", "convertCurrency"],
    ["merge pdf docuemnts", "mergePdf"],
  ])("forgives a slip of spelling: %s", async (question, key) => {
    expect(await bestOf(question)).toBe(key);
  });

  it("does not mend a word into another word", async () => {
    expect(await keysOf("perso")).toEqual(expect.arrayContaining(["crm_addPerson"]));
    expect(await keysOf("potty")).toEqual([]);
  });

  it.each([
    ["combine documents", "mergePdf"],
    ["bill a client", "sendInvoice"],
    ["currency conversion", "convertCurrency"],
  ])("knows common synonyms: %s", async (question, key) => {
    expect(await bestOf(question)).toBe(key);
  });

  it("gives both of two equal candidates with their scores, and little confidence", async () => {
    for (const [question, keys] of [
      ["crm", ["crm_addActivity", "crm_addPerson"]],
      ["log", ["crm_addActivity", "git_log"]],
    ] as const) {
      const { candidates } = await ask(question);
      expect(
        candidates
          .slice(0, 2)
          .map(({ row }) => row.key)
          .sort(),
      ).toEqual(keys);
    }
    const { best, candidates, hint } = await ask("crm");
    expect(candidates[0]!.score - candidates[1]!.score).toBeLessThanOrEqual(
      candidates[0]!.score * 0.05,
    );
    expect(best!.confidence).toBeLessThanOrEqual(0.5);
    expect(hint).toContain("nearly equal");
  });

  it.each([
    "multi-agent",
    "don't",
    "NOTE: mentions",
    "38.101",
    "c++",
    '"abc',
    'a"b',
    "(weather",
    "invoice AND",
    "-band",
    "key:val",
    "NEAR(",
    "{a b}",
    "100%_\\",
    "x".repeat(49),
    "天".repeat(17),
    "word ".repeat(1_000),
    "'; drop table directory; --",
    "\0",
    "weather\0invoice",
    "\ud800 weather",
    "name : pdf",
    "^pdf",
    "pdf*",
    "aé".repeat(600),
    "𝔘".repeat(500),
  ])("answers whatever is asked: %.30s", async (question) => {
    const { candidates } = await ask(question);
    expect(candidates.length).toBeLessThanOrEqual(MAX_CANDIDATES);
  });

  it("takes query syntax for plain words", async () => {
    expect(await bestOf("(weather")).toBe("getWeatherForecast");
    expect(await bestOf("invoice AND")).toBe("sendInvoice");
    expect(await bestOf("name:pdf NOT merge")).toBe("mergePdf");
  });
});
