import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyAuth, parseAuth } from "../../src/core/auth.ts";
import type { RequestDraft } from "../../src/core/request.ts";

const draft: RequestDraft = {
  method: "GET",
  url: "https://api.example.com/x",
  headers: [],
  body: null,
};

function applied(column: string, values: Record<string, string | null>, request = draft) {
  const parsed = parseAuth(column);
  if (!parsed.ok) throw new Error(parsed.reason);
  return applyAuth(parsed.auth, new Map(Object.entries(values)), request);
}

function requestOf(
  column: string,
  values: Record<string, string | null>,
  request = draft,
): RequestDraft {
  const result = applied(column, values, request);
  if (!result.ok) throw new Error(result.reason);
  return result.request;
}

describe("parseAuth", () => {
  it.each([null, "", "  "])("reads %j as no credential", (column) => {
    expect(parseAuth(column)).toEqual({ ok: true, auth: null, names: [] });
  });

  it("reads every form and lists the secrets it names", () => {
    expect(parseAuth("bearer:A_KEY")).toMatchObject({
      auth: { form: "bearer", name: "A_KEY" },
      names: ["A_KEY"],
    });
    expect(parseAuth(" basic: LOGIN ")).toMatchObject({ auth: { form: "basic", name: "LOGIN" } });
    expect(parseAuth("query:api_key=K")).toMatchObject({
      auth: { form: "query", parameter: "api_key", name: "K" },
    });
    expect(parseAuth('headers:{"X-A":"$ONE-$TWO","X-B":"v $ONE"}')).toEqual({
      ok: true,
      auth: {
        form: "headers",
        headers: [
          ["X-A", "$ONE-$TWO"],
          ["X-B", "v $ONE"],
        ],
      },
      names: ["ONE", "TWO"],
    });
  });

  it.each([
    ["weird:NAME", "unknown_prefix:weird"],
    ["Bearer:NAME", "unknown_prefix:Bearer"],
    ["oauth:NAME", "unknown_prefix:oauth"],
    ["NAME", "unknown_prefix:NAME"],
    [":NAME", "unknown_prefix:"],
    ["bearer:", "bad_name"],
    ["bearer:sk-not-a-name", "bad_name"],
    ["basic:A B", "bad_name"],
    ["query:NAME", "bad_query"],
    ["query:=NAME", "bad_query"],
    ["query:key=", "bad_name"],
    ["headers:{oops", "bad_headers_json"],
    ["headers:[]", "bad_headers_json"],
    ["headers:{}", "bad_headers_json"],
    ['headers:{"Host":"$A"}', "bad_header:Host"],
    ['headers:{"content-length":"1"}', "bad_header:content-length"],
    ['headers:{"X-A":1}', "bad_header:X-A"],
    ['headers:{"X-A":"$A","x-a":"$A"}', "bad_header:x-a"],
    ['headers:{"X-A":"$A\\r\\nX-B: 1"}', "bad_header:X-A"],
    ['headers:{"X A":"$A"}', "bad_header"],
  ])("refuses %j as %s", (column, reason) => {
    expect(parseAuth(column)).toEqual({ ok: false, reason });
  });

  it("never repeats a long text without a prefix, which may be a pasted credential", () => {
    expect(parseAuth("abcdefghijklmnopqrstuvwxyz0123456789")).toEqual({
      ok: false,
      reason: "unknown_prefix:…",
    });
  });
});

describe("applyAuth", () => {
  it("sends a bearer value to the letter, dollar patterns included", () => {
    const value = "pa$&ss$$w$'x$1";
    expect(requestOf("bearer:T", { T: value }).headers).toEqual([
      ["Authorization", `Bearer ${value}`],
    ]);
    expect(requestOf('headers:{"X-Key":"k=$T;"}', { T: value }).headers).toEqual([
      ["X-Key", `k=${value};`],
    ]);
  });

  it("encodes basic from the value, or from the value and a colon", () => {
    const of = (value: string) => requestOf("basic:L", { L: value }).headers[0]![1];
    expect(of("ada:pa:ss")).toBe(`Basic ${btoa("ada:pa:ss")}`);
    expect(of("sk_live")).toBe(`Basic ${btoa("sk_live:")}`);
    expect(of("ada:pässword")).toBe(`Basic ${Buffer.from("ada:pässword").toString("base64")}`);
  });

  it("takes the longest name and substitutes once, so a value that looks like a slot stays text", () => {
    const { headers } = requestOf('headers:{"X-A":"$A_B.$A","X-B":"$A_B","X-C":"5$ $ $1"}', {
      A: "$A_B",
      A_B: "$A",
    });
    expect(headers).toEqual([
      ["X-A", "$A.$A_B"],
      ["X-B", "$A"],
      ["X-C", "5$ $ $1"],
    ]);
  });

  it("applies nothing for an absent value, and leaves out only the header entry that needs it", () => {
    for (const column of ["bearer:N", "basic:N", "query:k=N"])
      expect(requestOf(column, { N: null })).toEqual(draft);
    expect(requestOf('headers:{"X-A":"$N $B","X-B":"$B"}', { N: null, B: "v" }).headers).toEqual([
      ["X-B", "v"],
    ]);
  });

  it("wins over a header line of the same name in any case", () => {
    const lines: RequestDraft = {
      ...draft,
      headers: [
        ["authorization", "Basic x"],
        ["X-Other", "1"],
      ],
    };
    expect(requestOf("bearer:T", { T: "v" }, lines).headers).toEqual([
      ["X-Other", "1"],
      ["Authorization", "Bearer v"],
    ]);
    expect(requestOf("bearer:T", { T: null }, lines).headers).toEqual(lines.headers);
  });

  it.each([
    ["https://h/x", "https://h/x?k=v%20%26%2B%2Fe"],
    ["https://h/x?", "https://h/x?k=v%20%26%2B%2Fe"],
    ["https://h/x?a=%2F&b", "https://h/x?a=%2F&b&k=v%20%26%2B%2Fe"],
    ["https://h/x?a=1#frag", "https://h/x?a=1&k=v%20%26%2B%2Fe"],
    ["https://h/x?k=theirs&%6b=again&a=1", "https://h/x?a=1&k=v%20%26%2B%2Fe"],
  ])("puts the query pair on %s and leaves the rest as it was", (url, expected) => {
    expect(requestOf("query:k=Q", { Q: "v &+/e" }, { ...draft, url }).url).toBe(expected);
  });

  it.each(["bearer:T", "basic:T", "query:k=T", 'headers:{"X":"$T"}'])(
    "refuses a line break under %s without showing it",
    (column) => {
      expect(applied(column, { T: "s3\ncr3t" })).toEqual({
        ok: false,
        reason: "secret T contains a line break",
      });
    },
  );

  it("refuses what a header cannot carry, whichever letter it is", () => {
    for (const value of ["Marić", "Müller", "日本", "nul\0"]) {
      for (const column of ["bearer:T", 'headers:{"X":"$T"}']) {
        expect(applied(column, { T: value })).toEqual({
          ok: false,
          reason: "secret T contains a character that a header cannot carry",
        });
      }
    }
  });

  it("never throws and never shows a value in a refusal", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", minLength: 4 }),
        fc.constantFrom("bearer:T", "basic:T", "query:k=T", 'headers:{"X":"a$T"}'),
        (value, column) => {
          const result = applied(column, { T: value });
          if (!result.ok) expect(result.reason).toMatch(/^secret T contains /);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("reads any column without throwing", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((s) => `headers:${s}`),
          fc.json().map((s) => `headers:${s}`),
        ),
        (column) => {
          expect(typeof parseAuth(column).ok).toBe("boolean");
        },
      ),
      { numRuns: 300 },
    );
  });
});
