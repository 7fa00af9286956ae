import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  indexJoins,
  indexTerms,
  matchExpression,
  MAX_QUESTION_BYTES,
  readQuestion,
  squeeze,
} from "../../src/core/ask-text.ts";
import { editDistance, nearestTerm, slipsAllowed } from "../../src/core/spelling.ts";
import { stem } from "../../src/core/stem.ts";

const terms = (text: string): string[] => readQuestion(text).terms;

describe("stemming", () => {
  it.each([
    ["caresses", "caress"],
    ["ponies", "poni"],
    ["cats", "cat"],
    ["agreed", "agre"],
    ["plastered", "plaster"],
    ["motoring", "motor"],
    ["hopping", "hop"],
    ["falling", "fall"],
    ["filing", "file"],
    ["happy", "happi"],
    ["sky", "sky"],
    ["relational", "relat"],
    ["generalizations", "gener"],
    ["oscillators", "oscil"],
    ["controlling", "control"],
    ["probate", "probat"],
    ["cease", "ceas"],
    ["technology", "technolog"],
    ["is", "is"],
  ])("reduces %s to %s", (word, expected) => {
    expect(stem(word)).toBe(expected);
  });

  it("leaves what is no English word alone", () => {
    for (const word of ["天気", "café", "a1s", ""]) expect(stem(word)).toBe(word);
  });
});

describe("identifiers", () => {
  it.each([
    ["listIssues", ["list", "issu"]],
    ["list_issues", ["list", "issu"]],
    ["LIST_ISSUES", ["list", "issu"]],
    ["list-issues.v2", ["list", "issu", "v", "2"]],
    ["getHTTPResponse", ["get", "http", "respons"]],
    ["base64", ["base", "64"]],
    ["pdf2text", ["pdf", "2", "text"]],
    ["PDFs", ["pdf"]],
    ["mergePDFs", ["merg", "pdf"]],
  ])("splits %s", (name, expected) => {
    expect(indexTerms(name, 20)).toEqual(expected);
  });

  it("are also known written together, whole and by neighbours", () => {
    expect(indexJoins("CRM_ADD_PERSON", "on GitHub", 20)).toEqual(
      expect.arrayContaining(["crmaddperson", "crmadd", "addperson", "github"]),
    );
    expect(indexJoins("ECHO", "plain words", 20)).toEqual([]);
  });

  it("are the same key in any spelling", () => {
    const spellings = [
      "LIST_ISSUES",
      "listIssues",
      "List issues",
      "list.issues",
      "ＬＩＳＴ_ISSUES",
    ];
    expect(new Set(spellings.map(squeeze))).toEqual(new Set(["listissues"]));
  });
});

describe("a question", () => {
  it("loses function words always, and request filler unless nothing else is said", () => {
    expect(terms("please could you merge my pdfs")).toEqual(["merg", "pdf"]);
    expect(terms("Show me what's new in today's news")).toEqual(["new", "todai"]);
    expect(terms("help")).toEqual(["help"]);
    for (const empty of ["the", "?", "AND", "what is it", "", "  ", "🙂"])
      expect(terms(empty)).toEqual([]);
  });

  it("keeps a word whole: is is not issue", () => {
    expect(terms("is")).toEqual([]);
    expect(terms("issue")).toEqual(["issu"]);
  });

  it("folds case, accents and width", () => {
    expect(terms("Météo ＰＤＦ Straße Łódź")).toEqual(["meteo", "pdf", "strass", "lodz"]);
  });

  it("reads scripts without spaces by pairs, beside words glued to them", () => {
    expect(terms("パリの天気")).toEqual(["パリ", "リの", "の天", "天気"]);
    expect(terms("天気API")).toEqual(["天気", "api"]);
    expect(terms("水")).toEqual(["水"]);
    expect(indexTerms("天気", 20)).toEqual(["天気", "天", "気"]);
  });

  it("is cut at 2 KB, at a code point", () => {
    const { text } = readQuestion("天".repeat(5_000));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_QUESTION_BYTES);
    expect(text).toBe("天".repeat(682));
  });

  it("of any characters gives terms that are never query syntax", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
        for (const term of [...terms(text), ...readQuestion(text).joins.map((join) => join.term)]) {
          expect(term).toMatch(/^[\p{L}\p{M}\p{N}\uFFFD]+$/u);
          expect(term.isWellFormed()).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("becomes quoted strings joined by OR", () => {
    expect(matchExpression(["a", 'b"c'])).toBe('"a" OR "b""c"');
  });
});

describe("spelling", () => {
  const known = ["park", "invoic", "weather", "email", "translat", "pair"].map((term) => ({
    term,
    rows: 1,
  }));

  it.each([
    ["invioc", "invoic"],
    ["wether", "weather"],
    ["emial", "email"],
    ["trnaslate", "translat"],
  ])("mends %s to %s", (slip, meant) => {
    expect(nearestTerm(slip, known)?.term).toBe(meant);
  });

  it.each(["pari", "wetter", "perk", "xyzzy", "emajl"])("leaves %s alone", (word) => {
    expect(nearestTerm(word, known)).toBeNull();
  });

  it("counts slips as a distance: symmetric, zero only for the same word, never above its bound", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
    fc.assert(
      fc.property(word, word, (left, right) => {
        const distance = editDistance(left, right, 9);
        expect(distance).toBe(editDistance(right, left, 9));
        expect(distance === 0).toBe(left === right);
        expect(editDistance(left, right, 1)).toBe(Math.min(distance, 2));
      }),
      { numRuns: 300 },
    );
  });

  it("allows no slip in short words", () => {
    expect([3, 4, 5, 8, 9].map((length) => slipsAllowed("x".repeat(length)))).toEqual([
      0, 0, 1, 1, 2,
    ]);
  });
});
