import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseHost } from "../../src/core/host-name.ts";
import { matchesVersion } from "../../src/core/if-match.ts";

describe("If-Match", () => {
  it.each([
    ['"3"', true],
    ['W/"3"', true],
    ["*", true],
    ['"1", "3"', true],
    ["3", true],
    ['"4"', false],
    ["", false],
    ['"03"', false],
    ['"3', true],
    ["x", false],
  ])("%j names version 3: %s", (header, matches) =>
    expect(matchesVersion(header, 3)).toBe(matches),
  );
  it("never names a row that is not there", () => {
    expect(matchesVersion("*", null)).toBe(false);
    expect(matchesVersion('"0"', null)).toBe(false);
  });
});

describe("a host of a secret", () => {
  it.each([
    ["api.example.com", "api.example.com"],
    ["API.Example.com:8443", "api.example.com:8443"],
    ["127.0.0.1:9093", "127.0.0.1:9093"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["[::1]:80", "[::1]:80"],
    ["localhost", "localhost"],
    ["2130706433", "127.0.0.1"],
    ["my_host.example", "my_host.example"],
  ])("%s is kept as %s", (text, host) => expect(parseHost(text)).toBe(host));
  it.each([
    "",
    "https://api.example.com",
    "api.example.com/v1",
    "*.example.com",
    "*",
    "user@example.com",
    "a b",
    "a:0",
    "a:70000",
    "a:b",
    "a:1:2",
    "a.",
    ".a",
    "a..b",
    "-a",
    "a?b",
    "a#b",
    "a\\b",
    "[::1",
    "a:443:",
    "%61.example",
    "a\u0000b",
    "a".repeat(400),
  ])("%j is none", (text) => expect(parseHost(text)).toBeNull());
  it("never throws, and what it keeps it would keep again", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.domain(), fc.ipV6()), (text) => {
        const host = parseHost(text);
        if (host !== null) expect(parseHost(host)).toBe(host);
      }),
      { numRuns: 300 },
    );
  });
});
