import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { joinPieces } from "../../src/core/arguments.ts";
import { verifyExport } from "../../src/core/verify.ts";
import { startServer, type Server } from "../support/server.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";

/** The naughty strings against a running deployment: as questions, and through rows to a real upstream. */
const folder = process.env.CORPUS ?? path.join(import.meta.dirname, "../../../shared/files");
const strings = (JSON.parse(readFileSync(path.join(folder, "blns.json"), "utf8")) as string[]).map(
  (text) => text.toWellFormed(),
);

let server: Server;
let upstream: Upstream;

interface Echo {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** A row per position, with a second slot behind the first, and what the upstream must have received. */
const POSITIONS: Record<
  string,
  { target: string; payload?: string; read: (echo: Echo) => unknown[] }
> = {
  path: {
    target: "GET /echo/$1/then/$2",
    read: ({ url }) =>
      url
        .split("/")
        .slice(2)
        .filter((_, index) => index !== 1)
        .map(decodeURIComponent),
  },
  query: {
    target: "GET /echo?a=$1&b=$2",
    read: ({ url }) => [...new URL(url, "http://x").searchParams.values()],
  },
  header: {
    target: "GET /echo\nX-A: $1\nX-B: $2",
    read: ({ headers }) => [headers["x-a"] ?? "", headers["x-b"]],
  },
  "quoted JSON": {
    target: "POST /echo",
    payload: '{"a":"$1","b":"$2"}',
    read: ({ body }) => Object.values(JSON.parse(body) as object),
  },
  form: {
    target: "POST /echo\nContent-Type: application/x-www-form-urlencoded",
    payload: "a=$1&b=$2",
    read: ({ body }) => [...new URLSearchParams(body).values()],
  },
};

beforeAll(async () => {
  upstream = await startUpstream();
  server = await startServer({ vars: { ALLOW_PRIVATE_HOSTS: new URL(upstream.origin).host } });
  for (const [name, { target, payload = "" }] of Object.entries(POSITIONS)) {
    const row = {
      key: keyOf(name),
      type: "http",
      target: target.replace(" /", () => ` ${upstream.origin}/`),
      content: `# WHAT: echoes through the ${name}\n${payload}`,
    };
    const answer = await server.request("/api/directory", { method: "POST", json: row });
    if (answer.status !== 201) throw new Error(answer.text);
  }
});

afterAll(async () => {
  await server?.stop();
  await upstream?.stop();
});

function keyOf(position: string): string {
  return `BLNS_${position.toUpperCase().replace(" ", "_")}`;
}

describe("every naughty string", () => {
  it("is answered as a question: 200, or 400 when it is blank", async () => {
    for (const text of strings) {
      const answer = await server.request(`/api/dispatch?ask=${encodeURIComponent(text)}`);
      const blank = text.trim() === "";
      expect([text, answer.status, blank ? answer.json.error : answer.json.kind]).toEqual(
        blank ? [text, 400, "blank_question"] : [text, 200, "ask"],
      );
    }
  });

  it("is answered as a key", async () => {
    for (const text of strings) {
      const answer = await server.request(`/api/dispatch?key=${encodeURIComponent(text)}`);
      expect([text, answer.status, answer.json.error]).toEqual([text, 404, "unknown_key"]);
    }
  });

  it.each(Object.entries(POSITIONS))(
    "arrives through the %s as it is, or is refused by name",
    async (name, { read }) => {
      let arrived = 0;
      for (const text of strings) {
        const body = joinPieces([text, "second"]);
        const { status, json } = await server.request("/api/dispatch", {
          method: "POST",
          json: { key: keyOf(name), body, as: "json" },
        });
        expect([text, status, json.ran]).toEqual([text, 200, true]);
        if (!json.ok) {
          expect(json.result).toMatch(/^ERR:http:bad_(?:path|header)_argument$/);
          continue;
        }
        const expected = name === "header" ? text.trim() : text;
        expect(read(json.result as Echo)).toEqual([expected, "second"]);
        arrived++;
      }
      expect(arrived).toBeGreaterThan(strings.length / 2);
    },
  );

  it("left a ledger that verifies", async () => {
    const { text } = await server.request("/api/ledger/export");
    expect(await verifyExport(text.trimEnd().split("\n"))).toMatchObject({ ok: true });
  });
});
