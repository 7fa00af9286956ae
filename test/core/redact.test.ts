import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactHeaders, redactNames, redactValues } from "../../src/core/redact.ts";

const value = 'pä$& "s/s+w=r<d';
const secrets = [{ name: "S", value }];
const b64 = (text: string) => Buffer.from(text).toString("base64");
const b64url = (text: string) => Buffer.from(text).toString("base64url");

describe("redactValues", () => {
  it.each([
    ["as it is", value],
    ["as JSON", JSON.stringify(value).slice(1, -1)],
    ["as JSON inside JSON", JSON.stringify(JSON.stringify(value)).slice(3, -3)],
    ["as JSON with escaped slashes", JSON.stringify(value).slice(1, -1).replaceAll("/", "\\/")],
    [
      "as JSON of a writer that escapes all but ASCII",
      JSON.stringify(value).slice(1, -1).replaceAll("ä", "\\u00e4"),
    ],
    ["URL-encoded", encodeURIComponent(value)],
    [
      "URL-encoded in lower case",
      encodeURIComponent(value).replace(/%../g, (hex) => hex.toLowerCase()),
    ],
    ["form-encoded", new URLSearchParams({ v: value }).toString().slice(2)],
    ["as base64", b64(value)],
    ["as base64 without padding", b64(value).replace(/=+$/, "")],
    ["as base64url", b64url(value)],
    ["as the base64 of basic auth", b64(`${value}:`)],
  ])("replaces the value %s", (_name, spelling) => {
    expect(redactValues(`a ${spelling} b ${spelling}`, secrets)).toBe(
      "a [redacted:S] b [redacted:S]",
    );
  });

  it.each([0, 1, 2, 3])("finds the value inside longer base64 at offset %i", (offset) => {
    const token = [{ name: "T", value: "s3cr3t-bearer-value" }];
    const text = redactValues(b64(`${"x".repeat(offset)}s3cr3t-bearer-value and more`), token);
    expect(text).toContain("[redacted:T]");
    expect(Buffer.from(text.replace("[redacted:T]", ""), "base64").toString()).not.toContain(
      "3cr3t-bearer",
    );
  });

  it("takes the longest of several and never looks at what it inserted", () => {
    const two = [
      { name: "SHORT", value: "abcd" },
      { name: "LONG", value: "abcdefgh" },
      { name: "MARK", value: "redacted" },
    ];
    expect(redactValues("abcdefgh abcd redacted", two)).toBe(
      "[redacted:LONG] [redacted:SHORT] [redacted:MARK]",
    );
  });

  it("leaves nothing of two secrets that overlap in the text", () => {
    const two = [
      { name: "A", value: "1234abcd" },
      { name: "B", value: "abcd5678" },
    ];
    expect(redactValues("x1234abcd5678y", two)).toBe("x[redacted:A]y");
  });

  it("leaves values of fewer than four characters, which occur everywhere", () => {
    expect(redactValues("an abc", [{ name: "A", value: "abc" }])).toBe("an abc");
  });

  it("takes the beginning of a secret at the end of a text that was cut", () => {
    const token = [{ name: "T", value: "s3cr3t-bearer-value" }];
    expect(redactValues("said s3cr3t-bea", token, { cut: true })).toBe("said [redacted:T]");
    expect(redactValues("said s3cr3t-bea", token)).toBe("said s3cr3t-bea");
    expect(redactValues("s3cr3t-bearer-value s3cr3t-bea", token, { cut: true })).toBe(
      "[redacted:T] [redacted:T]",
    );
    expect(redactValues("s3cr3t-bearer-value", token, { cut: true })).toBe("[redacted:T]");
  });

  it("leaves no spelling behind, whatever the value and what stands around it", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 6, maxLength: 40 }),
        fc.string(),
        fc.string(),
        (secret, before, after) => {
          const json = JSON.stringify({ before, secret, after });
          const text = redactValues(`${json} ${encodeURIComponent(secret)} ${b64(secret)}`, [
            { name: "Q", value: secret },
          ]);
          // The marker itself may contain a value such as "redact".
          const rest = text.replaceAll("[redacted:Q]", "\n");
          for (const spelling of [secret, b64(secret)]) expect(rest).not.toContain(spelling);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("redactNames", () => {
  it.each([
    ['{"password":"hunter2","note":"kept"}', '{"password":"[redacted]","note":"kept"}'],
    ['{ "access_token" : "a\\"b" , "n": 1 }', '{ "access_token" : "[redacted]" , "n": 1 }'],
    [
      '{"id":1234567890123456789,"client_secret":"x y"}',
      '{"id":1234567890123456789,"client_secret":"[redacted]"}',
    ],
    [
      '{"OPENAI_API_KEY":"k","apikey":"k","api-key":"k","x-api-key":"k"}',
      '{"OPENAI_API_KEY":"[redacted]","apikey":"[redacted]","api-key":"[redacted]","x-api-key":"[redacted]"}',
    ],
    [
      '{"Authorization":"Bearer x","Cookie":"a=b","Set-Cookie":["a","b"]}',
      '{"Authorization":"[redacted]","Cookie":"[redacted]","Set-Cookie":"[redacted]"}',
    ],
    [
      '{"max_tokens":100,"total_tokens":7,"stream_token":true,"token":null}',
      '{"max_tokens":100,"total_tokens":7,"stream_token":true,"token":null}',
    ],
    [
      '{"password":12345,"secret":true,"secret2":null}',
      '{"password":"[redacted]","secret":"[redacted]","secret2":null}',
    ],
    [
      '{"usage":{"completion_tokens_details":{"reasoning_tokens":5,"kind":"x"}}}',
      '{"usage":{"completion_tokens_details":{"reasoning_tokens":5,"kind":"[redacted]"}}}',
    ],
    ['{"secrets":{"a":{"b":[1,"}"]}},"z":1}', '{"secrets":"[redacted]","z":1}'],
    [
      '{"token":"","cookies":3,"cookie_banner":"shown"}',
      '{"token":"","cookies":3,"cookie_banner":"shown"}',
    ],
    [
      '{"raw":"{\\"token\\":\\"a\\\\\\"b\\",\\"k\\":1}","z":2}',
      '{"raw":"{\\"token\\":\\"[redacted]\\",\\"k\\":1}","z":2}',
    ],
    ["{'token': 'abc', 'k': 1}", "{'token': '[redacted]', 'k': 1}"],
    ["https://h/x?a=1&token=abc&b=2#f", "https://h/x?a=1&token=[redacted]&b=2#f"],
    ["grant=x&client_secret=a%2Fb&max_tokens=5", "grant=x&client_secret=[redacted]&max_tokens=5"],
    ['{"url":"https://h/?api_key=abc","n":1}', '{"url":"https://h/?api_key=[redacted]","n":1}'],
    ["user[password]=x&y=1", "user[password]=[redacted]&y=1"],
    [
      "GET / HTTP/1.1\r\nAuthorization: Bearer a.b.c\r\nAccept: x",
      "GET / HTTP/1.1\r\nAuthorization: [redacted]\r\nAccept: x",
    ],
    ['> Cookie: a="1"; b=2\n> Host: h', "> Cookie: [redacted]\n> Host: h"],
    [
      '{"raw":"GET /\\r\\nCookie: a=\\"1\\"\\r\\nHost: h"}',
      '{"raw":"GET /\\r\\nCookie: [redacted]\\r\\nHost: h"}',
    ],
    [
      'curl -H "Authorization: Bearer abc" https://h',
      'curl -H "Authorization: [redacted]" https://h',
    ],
    ['["Authorization: Bearer abc","Host: h"]', '["Authorization: [redacted]","Host: h"]'],
    ["the token: a unit of text", "the token: a unit of text"],
    ["a cookie and a secret, in prose", "a cookie and a secret, in prose"],
    ["nothing to see", "nothing to see"],
    ['{"token":"cut off', '{"token":"[redacted]'],
    ['{"tokens":["cut","off', '{"tokens":["[redacted]","[redacted]'],
  ])("%s", (text, expected) => {
    expect(redactNames(text)).toBe(expected);
  });

  it("leaves JSON that parses, with every other member as it was", () => {
    const name = fc.constantFrom("password", "a", "max_tokens", "api_key", "b c", "token", "x");
    const tree = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        tie("object"),
        fc.array(tie("value"), { maxLength: 3 }),
      ),
      object: fc.dictionary(name, tie("value"), { maxKeys: 4 }),
    })).object;
    fc.assert(
      fc.property(tree, fc.boolean(), (value, nested) => {
        const text = JSON.stringify(nested ? { inner: JSON.stringify(value) } : value);
        const once = redactNames(text);
        const parsed = JSON.parse(once) as { inner: string };
        if (nested) JSON.parse(parsed.inner);
        expect(redactNames(once)).toBe(once);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ["one endless name", "token".repeat(200_000)],
    ["names without an end of value", '"token":"'.repeat(100_000)],
    ["nested containers", '{"tokens":['.repeat(90_000)],
    ["backslashes", `"token${"\\".repeat(1_000_000)}"`],
    ["blanks", `"token"${" ".repeat(1_000_000)}`],
    ["names and blanks", `token${" ".repeat(9)}`.repeat(70_000)],
    ["pairs", "token=".repeat(170_000)],
    ["colons", "\ntoken:".repeat(140_000)],
    ["escaped quotes", `"token":"${'\\"'.repeat(500_000)}`],
    ["digits", `"max_token":${"1".repeat(1_000_000)}x`],
    ["quotes after names", `token"`.repeat(170_000)],
    ["word characters", `${"a".repeat(1_000_000)}token`],
  ])("takes linear time on %s", (_name, text) => {
    const startMs = performance.now();
    redactNames(text);
    expect(performance.now() - startMs).toBeLessThan(1_500);
  });
});

describe("redactHeaders", () => {
  it("keeps names and order and blanks the values of credentials", () => {
    expect(
      redactHeaders([
        ["Accept", "x"],
        ["AUTHORIZATION", "Bearer x"],
        ["x-api-key", "k"],
        ["Set-Cookie", "a"],
        ["X-Auth-Token", "t"],
      ]),
    ).toEqual([
      ["Accept", "x"],
      ["AUTHORIZATION", "[redacted]"],
      ["x-api-key", "[redacted]"],
      ["Set-Cookie", "[redacted]"],
      ["X-Auth-Token", "[redacted]"],
    ]);
  });
});
