import { execFile, execFileSync, spawnSync } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonical, parseUnambiguous } from "../../src/core/canonical.ts";
import {
  chainEvent,
  packDraft,
  GENESIS,
  publicJwk,
  readJwks,
  signHead,
  type PublicKeys,
  type Signer,
} from "../../src/core/chain.ts";
import type { EventDraft, LedgerEvent } from "../../src/core/event.ts";
import { linesOf, verifyExport, verifyReceipt, type Verdict } from "../../src/core/verify.ts";

function makeSigner(): { signer: Signer; jwk: ReturnType<typeof publicJwk> } {
  const { privateKey } = generateKeyPairSync("ed25519");
  const jwk = publicJwk(privateKey.export({ format: "jwk" }).x ?? "");
  return { jwk, signer: { kid: jwk.kid, sign: (bytes) => sign(null, bytes, privateKey) } };
}

const old = makeSigner();
const now = makeSigner();

/** An export of `count` events whose key was changed half-way. */
function makeExport(count: number): string[] {
  let last = GENESIS;
  const lines = [JSON.stringify({ keys: [now.jwk, old.jwk] })];
  for (let seq = 1; seq <= count; seq++) {
    const draft: EventDraft = {
      id: `inv_0_${seq}`,
      kind: "INVOKE",
      at: "2026-08-01T00:00:00.000Z",
      actor: "owner",
      via: "http",
      key: "ECHO",
      trace: null,
      parent: null,
      data: { output: `é\u001f\u2028 "${seq}" 😀`, rate: 1e21, deep: [{ a: { b: [] } }] },
    };
    const { signer } = seq <= count / 2 ? old : now;
    const { form } = chainEvent(packDraft(draft), { seq, prev: last.hash, ...signer });
    const event = JSON.parse(form) as LedgerEvent;
    lines.push(canonical(event));
    last = event;
  }
  const head = signHead(
    { origin: "rowcall/0", size: count, hash: last.hash, at: "2026-08-01T00:00:01.000Z" },
    now.signer,
  );
  lines.push(JSON.stringify({ head }));
  return lines;
}

const lines = makeExport(8);

function bytesOf(text: readonly string[]): Uint8Array[] {
  return [new TextEncoder().encode(text.map((line) => `${line}\n`).join(""))];
}

async function seqOfFault(given: string[]): Promise<number | "good"> {
  const verdict = await verifyExport(given);
  return verdict.ok ? "good" : verdict.seq;
}

describe("verifying an export", () => {
  it("counts the events of a whole one, over a change of keys", async () => {
    const verdict = await verifyExport(lines);
    expect(verdict).toMatchObject({ ok: true, count: 8, head: { seq: 8 } });
  });

  it("takes an empty log for what it is", async () => {
    expect(await verifyExport(makeExport(0))).toEqual({ ok: true, count: 0, head: GENESIS });
  });

  it("finds a line that was removed", async () => {
    for (let at = 0; at < lines.length; at++) {
      const seq = at === lines.length - 1 ? 9 : at;
      expect(await seqOfFault(lines.toSpliced(at, 1))).toBe(at === 0 ? 0 : seq);
    }
  });

  it("finds a line that stands twice, next to itself or elsewhere", async () => {
    for (let at = 0; at < lines.length; at++) {
      expect(await seqOfFault(lines.toSpliced(at, 0, lines[at] ?? ""))).not.toBe("good");
      expect(await seqOfFault([...lines, lines[at] ?? ""])).toBe(9);
    }
  });

  it("finds two lines that changed places", async () => {
    for (let at = 1; at < lines.length; at++) {
      const swapped = lines.with(at, lines[at - 1] ?? "").with(at - 1, lines[at] ?? "");
      expect(await seqOfFault(swapped)).toBe(Math.max(0, at - 1));
    }
  });

  it("finds that the end is missing, wherever it was cut", async () => {
    const [bytes] = bytesOf(lines);
    const whole = bytes ?? new Uint8Array();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.length - 2 }), async (end) => {
        const verdict = await verifyExport(linesOf([whole.subarray(0, end)]));
        expect(verdict.ok).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  it("finds any one changed byte, unless the documents are still the same", async () => {
    const whole = bytesOf(lines)[0] ?? new Uint8Array();
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 2),
        fc.integer({ min: 1, max: 255 }),
        async (at, change) => {
          const changed = whole.slice();
          changed[at] = (changed[at] ?? 0) ^ change;
          const verdict = await verifyExport(linesOf([changed]));
          expect(verdict.ok).toBe(await sameDocuments(changed));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("accepts events that were printed anew", async () => {
    const anew = lines.map((line) => {
      const document = Object.entries(JSON.parse(line) as object).toReversed();
      return JSON.stringify(Object.fromEntries(document), null, 1).replaceAll("\n", () => " ");
    });
    expect(await seqOfFault(anew)).toBe("good");
  });

  it("refuses a member that stands twice, though the last one is the true one", async () => {
    const doubled = (lines[3] ?? "").replace('{"actor"', () => '{"actor":"mallory","actor"');
    expect(await verifyExport(lines.with(3, doubled))).toEqual({
      ok: false,
      seq: 3,
      why: "a member stands twice",
    });
  });

  it("refuses a whole log under new keys when the reader knows the true ones", async () => {
    const trusted = readJwks({ keys: [{ ...now.jwk }, { ...old.jwk }] }) as PublicKeys;
    expect((await verifyExport(lines, trusted)).ok).toBe(true);
    const mine = readJwks({ keys: [{ ...makeSigner().jwk }] }) as PublicKeys;
    expect(await verifyExport(lines, mine)).toMatchObject({
      ok: false,
      seq: 1,
      why: expect.stringMatching(/^unknown key/),
    });
  });

  it.each([[[]], [[""]], [["{}"]], [["[]"]], [["null", "null"]]])(
    "refuses %j",
    async (given: string[]) => {
      expect(await seqOfFault(given)).toBe(0);
    },
  );
});

describe("reading lines", () => {
  it("breaks at U+000A alone, wherever chunks end", async () => {
    const text = ["a\u2028é\r", "", "😀", "last"].join("\n");
    const bytes = new TextEncoder().encode(text);
    for (let size = 1; size <= bytes.length; size++) {
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      expect(await collect(linesOf(chunks))).toEqual(text.split("\n"));
    }
  });

  it("refuses bytes that are not UTF-8, in the middle and at the end", async () => {
    for (const bytes of [[0xff], [0x22, 0xc3]]) {
      const verdict = await verifyExport(linesOf([new Uint8Array(bytes)]));
      expect(verdict).toEqual({ ok: false, seq: 0, why: "not UTF-8" });
    }
  });
});

describe("verifying one receipt", () => {
  const keys = readJwks({ keys: [{ ...now.jwk }, { ...old.jwk }] }) as PublicKeys;
  const receipt = { ...(JSON.parse(lines[2] ?? "") as object), repaired_by: ["inv_0_9"] };

  it("looks past what was computed beside the event", () => {
    expect(verifyReceipt(JSON.stringify(receipt, null, 2), keys)).toMatchObject({
      ok: true,
      count: 1,
    });
  });

  it("refuses another digit, an unknown key, and what is no receipt", () => {
    const why = (verdict: Verdict): string => (verdict.ok ? "good" : verdict.why);
    expect(why(verifyReceipt(JSON.stringify({ ...receipt, seq: 3 }), keys))).toBe(
      "hash does not match the event",
    );
    expect(why(verifyReceipt(JSON.stringify(receipt), new Map()))).toMatch(/^unknown key/);
    expect(why(verifyReceipt("{", keys))).toBe("not JSON");
    expect(why(verifyReceipt("[]", keys))).toBe("not an event");
  });
});

describe("the command", () => {
  const command = path.join(import.meta.dirname, "../../src/node/verify.ts");
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "verify-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function file(name: string, text: string): string {
    const at = path.join(folder, name);
    writeFileSync(at, text);
    return at;
  }

  it("exits 0 with the count, from a file or from standard input", () => {
    const text = lines.map((line) => `${line}\n`).join("");
    const at = file("good.jsonl", text);
    expect(execFileSync(process.execPath, [command, at], { encoding: "utf8" })).toMatch(
      /^verified 8 events/,
    );
    expect(
      execFileSync(process.execPath, [command, "-"], { encoding: "utf8", input: text }),
    ).toMatch(/ 8 events/);
  });

  it("reads a URL with the owner's key, which it never carries to another address", async () => {
    const seen: unknown[] = [];
    const server = createServer((given, answer) => {
      seen.push([given.url, given.headers["x-terminal-key"]]);
      if (given.url === "/moved") answer.writeHead(307, { location: "/export" }).end();
      else answer.end(given.url === "/jwks" ? lines[0] : lines.map((line) => `${line}\n`).join(""));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const run = (...args: string[]) => promisify(execFile)(process.execPath, [command, ...args]);
    const args = [`${origin}/export`, "--key", "owner", "--jwks", `${origin}/jwks`];
    expect((await run(...args)).stdout).toMatch(/^verified 8 events/);
    await expect(run(`${origin}/moved`, "--key", "owner")).rejects.toMatchObject({ code: 1 });
    expect(seen).toEqual([
      ["/jwks", undefined],
      ["/export", "owner"],
      ["/moved", "owner"],
    ]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("exits 1 with the first bad seq and why", () => {
    const at = file("bad.jsonl", lines.toSpliced(5, 1).join("\n"));
    const { status, stderr } = spawnSync(process.execPath, [command, at], { encoding: "utf8" });
    expect([status, stderr]).toEqual([1, "bad seq 5: seq 6 where 5 belongs\n"]);
  });

  it("checks one receipt against keys from elsewhere", () => {
    const at = file("receipt.json", JSON.stringify(JSON.parse(lines[1] ?? ""), null, 2));
    const jwks = file("jwks.json", lines[0] ?? "");
    const { status } = spawnSync(process.execPath, [command, at, "--receipt", "--jwks", jwks]);
    expect(status).toBe(0);
  });

  it("says in one line what it could not read", () => {
    for (const args of [[], [path.join(folder, "none")], ["--what"]]) {
      const { status, stderr } = spawnSync(process.execPath, [command, ...args], {
        encoding: "utf8",
      });
      expect([status, stderr.trim().split("\n").length]).toEqual([1, 1]);
    }
  });
});

/** Whether every line still says what it said: `\u001f` and `\u001F`, `e+21` and `E+21` are one document. */
async function sameDocuments(bytes: Uint8Array): Promise<boolean> {
  try {
    const given = await collect(linesOf([bytes]));
    const forms = given.map((line) => canonical(parseUnambiguous(line)));
    return (
      JSON.stringify(forms) === JSON.stringify(lines.map((line) => canonical(JSON.parse(line))))
    );
  } catch {
    return false;
  }
}

async function collect(given: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of given) all.push(line);
  return all;
}
