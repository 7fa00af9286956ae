import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contractMarkdown } from "../../src/core/contract-markdown.ts";
import { ANONYMOUS, OWNER } from "../../src/core/principal.ts";
import { brief } from "../../src/core/public-text.ts";
import { readContract as read, type RowOf } from "../support/contract.ts";

describe("a stranger's contract", () => {
  it.each([
    "bearer:NET_KEY",
    "basic:NET_KEY",
    "oauth:NET_KEY",
    "query:key=NET_KEY",
    'headers:{"X-Key":"Token $NET_KEY"}',
    "odd:NET_KEY",
  ])("names neither the secret nor the host, wherever they stand: %s", (auth) => {
    const row: RowOf = {
      key: "ROW",
      type: "http",
      target: "GET https://API.example.net:8443/v1/$1",
      auth,
      category: "api.example.net",
      content:
        "# WHAT: asks api.EXAMPLE.net with NET_KEY\n# ARGS: a path of api.example.net:8443\n# EX: [ROW]https://api.example.net/x[/ROW]\n# OUTPUT: what net_key opens",
      input_schema:
        '{"type":"object","properties":{"p":{"type":"string","description":"of api.example.net"}}}',
    };
    for (const text of [
      contractMarkdown(read(row, ANONYMOUS)),
      JSON.stringify(read(row, ANONYMOUS)),
    ]) {
      expect(text.toLowerCase()).not.toContain("api.example.net");
      expect(text.toLowerCase()).not.toContain("net_key");
      expect(text).toContain("required");
    }
    expect(read(row, OWNER).auth).toBe(auth);
    expect(read(row, OWNER).what).toContain("NET_KEY");
  });

  it("names no host and no secret that a payload holds", () => {
    const row = {
      key: "ROW",
      type: "fn" as const,
      target: "mcp_call",
      content:
        '# WHAT: calls mcp.example.org, opened by ORG_KEY\n["https://mcp.example.org/mcp","tool","{}","bearer:ORG_KEY"]',
    };
    expect(read(row, ANONYMOUS).what).toBe("calls [host], opened by [secret]");
  });
});

it("a brief text ends at a word and says that there is more", () => {
  expect(brief("short", 80)).toBe("short");
  expect(brief("one two three four", 15)).toBe("one two three…");
  expect(brief("x".repeat(100), 10)).toBe("xxxxxxxxx…");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 3, max: 40 }), (text, max) => {
      expect(brief(text, max).length).toBeLessThanOrEqual(Math.max(max, 1));
    }),
    { numRuns: 200 },
  );
});
