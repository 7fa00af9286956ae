import { describe, expect, it } from "vitest";
import { withBindings } from "../../src/core/arguments.ts";
import { buildRequest, type RequestDraft } from "../../src/core/request.ts";
import { renderStepBody, renderText } from "../../src/core/substitute.ts";
import { ofPieces } from "../support/arguments.ts";
import { corpusText } from "../support/corpus.ts";

const strings = (JSON.parse(corpusText("blns.json")) as string[]).map((text) =>
  text.toWellFormed(),
);

/** The request with the string in slot 1 and a marker in slot 2, or null with one of the errors allowed there. */
function built(
  target: string,
  value: string,
  payload: string,
  refusal: string | null,
): RequestDraft | null {
  const result = buildRequest(target, payload, ofPieces(value, "marker"));
  if (result.ok) return result.request;
  expect(result.error, JSON.stringify(value)).toBe(refusal);
  return null;
}

describe("each of the naughty strings, beside a marker in another slot,", () => {
  it("is one of 515", () => {
    expect(strings).toHaveLength(515);
  });

  it("stays one path segment", () => {
    for (const value of strings) {
      const request = built(
        "GET https://h.example/a/$1/b/$2?c=$2#$2",
        value,
        "",
        "ERR:http:bad_path_argument",
      );
      if (!request) {
        expect([".", ".."]).toContain(value);
        continue;
      }
      const url = new URL(request.url);
      expect(url.host).toBe("h.example");
      expect(url.pathname.split("/").map(decodeURIComponent)).toEqual([
        "",
        "a",
        value,
        "b",
        "marker",
      ]);
      expect([url.search, url.hash]).toEqual(["?c=marker", "#marker"]);
    }
  });

  it("stays one query value and one fragment", () => {
    for (const value of strings) {
      const url = new URL(built("GET https://h.example/a?v=$1&m=$2#$1", value, "", null)!.url);
      expect([url.host, url.pathname]).toEqual(["h.example", "/a"]);
      expect([...url.searchParams]).toEqual([
        ["v", value],
        ["m", "marker"],
      ]);
      expect(decodeURIComponent(url.hash.slice(1))).toBe(value);
    }
  });

  it("is a host label or is refused", () => {
    for (const value of strings) {
      const request = built("GET https://x$1.example/$2", value, "", "ERR:http:bad_host_argument");
      if (request) expect(value).toMatch(/^[A-Za-z0-9.-]+$/);
      if (request)
        expect(new URL(request.url)).toMatchObject({
          host: `x${value.toLowerCase()}.example`,
          pathname: "/marker",
        });
    }
  });

  it("stays one header value or is refused", () => {
    for (const value of strings) {
      const request = built(
        "POST https://h.example/\nX-V: <$1>\nX-M: $2",
        value,
        "",
        "ERR:http:bad_header_argument",
      );
      if (request)
        expect(request.headers).toEqual([
          ["X-V", `<${value}>`],
          ["X-M", "marker"],
        ]);
      if (request) expect([...new Headers(request.headers)]).toHaveLength(2);
      else expect(value).toMatch(/[^\x20-\x7e]/);
    }
  });

  it("stays one JSON value, in quotes and out of them", () => {
    for (const value of strings) {
      const { body } = built(
        "POST https://h.example/",
        value,
        '{"q":"<$1>","v":$1,"m":"$2","n":$2}',
        null,
      )!;
      const read = JSON.parse(body!) as { [name: string]: unknown };
      expect(Object.keys(read)).toEqual(["q", "v", "m", "n"]);
      expect(read).toMatchObject({ q: `<${value}>`, m: "marker", n: "marker" });
      if (typeof read["v"] === "string" && !value.startsWith('"')) expect(read["v"]).toBe(value);
    }
  });

  it("stays one form value", () => {
    const target = "POST https://h.example/\nContent-Type: application/x-www-form-urlencoded";
    for (const value of strings) {
      const { body } = built(target, value, "v=$1&m=$2", null)!;
      expect([...new URLSearchParams(body!)]).toEqual([
        ["v", value],
        ["m", "marker"],
      ]);
    }
  });

  it("arrives as it is in text, and as one piece of a flow step", () => {
    for (const value of strings) {
      const args = withBindings(ofPieces(value, "marker"), new Map([["PREV", value]]));
      expect(renderText("<$1> $2 $PREV", args)).toBe(`<${value}> marker ${value}`);
      expect(renderStepBody("$1|<$PREV>|$2", args)).toEqual([value, `<${value}>`, "marker"]);
    }
  });
});
