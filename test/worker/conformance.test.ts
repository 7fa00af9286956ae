import { beforeAll, describe, expect, inject, it } from "vitest";
import { put, request } from "../support/client.ts";

const upstream = inject("upstream");

/** What one door made of a call: the result, and the receipts that the ledger holds of the row since. */
interface Seen {
  result: unknown;
  receipts: any[];
  started: any[];
  refused: any[];
}

type Door = (key: string, body: string) => Promise<unknown>;

/** Every way by which a call reaches the one path. Each returns the row's own result or its refusal. */
const DOORS: [string, Door][] = [
  [
    "HTTP",
    async (key, body) => {
      const { json } = await request("/api/dispatch", { body: { key, body } });
      return json.result ?? json.error;
    },
  ],
  [
    "a flow's step",
    async (key, body) => {
      await put({ key: "VIA_FLOW", type: "flow", content: `${key}: $1` });
      const { json } = await request("/api/dispatch", { body: { key: "VIA_FLOW", body } });
      return json.result;
    },
  ],
  [
    "a row on this deployment's own origin",
    async (key, body) => {
      await put({
        key: "VIA_SELF",
        type: "http",
        target: "POST /api/dispatch",
        content: '{"key":"$1","body":"$2+"}',
      });
      const { json } = await request("/api/dispatch", {
        body: { key: "VIA_SELF", body: `${key}|${body}` },
      });
      const inner = JSON.parse(
        json.result.replace(/^(?:HTTP|ERR:http:)\s?\d+:|^ERR:http:\d+:/, ""),
      );
      return inner.result ?? inner.error;
    },
  ],
];

async function eventsOf(kind: string, key: string, since: number): Promise<any[]> {
  const { events } = (await request(`/api/ledger?kind=${kind}&key=${key}&limit=500`)).json;
  return events.filter((event: { seq: number }) => event.seq > since).reverse();
}

async function through(door: Door, key: string, body: string): Promise<Seen> {
  const since = (await request("/api/ledger?limit=1")).json.events[0].seq;
  const result = await door(key, body);
  const [receipts, started, refused] = await Promise.all(
    ["INVOKE", "INVOKE_STARTED", "INVOKE_REFUSED"].map((kind) => eventsOf(kind, key, since)),
  );
  return { result, receipts: receipts!, started: started!, refused: refused! };
}

beforeAll(async () => {
  await put({ key: "LAW_ECHO", type: "fn", target: "echo" });
  await put({ key: "LAW_READ", type: "http", target: `GET ${upstream}/echo?q=$1` });
  await put({ key: "LAW_WRITE", type: "http", target: `POST ${upstream}/echo`, content: "$1" });
  await put({ key: "LAW_FAIL", type: "http", target: `GET ${upstream}/status/404` });
  await put({
    key: "LAW_LEAK",
    type: "http",
    target: `GET ${upstream}/echo`,
    auth: "bearer:TEST_BEARER",
  });
  await request("/api/secrets/TEST_BEARER", {
    method: "PUT",
    body: { hosts: [new URL(upstream).host] },
  });
  await put({
    key: "LAW_TYPED",
    type: "http",
    target: `POST ${upstream}/echo`,
    content: '{"n":$n}',
    input_schema: '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}',
  });
  await put({ key: "LAW_OFF", type: "fn", target: "echo", enabled: 0 });
});

describe.each(DOORS)("through %s", (_name, door) => {
  it("a run leaves exactly one receipt, of the caller and in one trace", async () => {
    const { result, receipts } = await through(door, "LAW_ECHO", "hello");
    expect(result).toBe("hello");
    expect(receipts).toHaveLength(1);
    expect(receipts[0]).toMatchObject({
      actor: "owner",
      data: { ok: true, input: "hello", output: "hello" },
    });
    expect(receipts[0].trace).toMatch(/^t_/);
  });

  it("a call made by another names it as its parent, in the same trace", async () => {
    const { receipts } = await through(door, "LAW_ECHO", "x");
    const { parent, trace } = receipts[0];
    if (parent === null) return expect(door).toBe(DOORS[0]![1]);
    const outer = (await request(`/api/dispatch?receipt=${parent}`)).json;
    expect(outer).toMatchObject({ kind: "INVOKE", trace, parent: null });
  });

  it("a writing row has its started event before its receipt, a reading row none", async () => {
    const written = await through(door, "LAW_WRITE", "x");
    expect(written.started).toHaveLength(1);
    expect(written.started[0].data.invocation_id).toBe(written.receipts[0].id);
    expect(written.started[0].seq).toBeLessThan(written.receipts[0].seq);
    expect((await through(door, "LAW_READ", "x")).started).toEqual([]);
  });

  it("a failure of the upstream is a result that begins with ERR: and a receipt that says so", async () => {
    const { result, receipts } = await through(door, "LAW_FAIL", "");
    expect(result).toMatch(/^ERR:http:404:/);
    expect(receipts).toHaveLength(1);
    expect(receipts[0].data).toMatchObject({ ok: false, status: "FAILED" });
  });

  it("invalid arguments reach no upstream, and the refusal is evidence", async () => {
    const { result, receipts, started, refused } = await through(door, "LAW_TYPED", "many");
    expect(result).toContain("invalid_arguments");
    expect([receipts, started]).toEqual([[], []]);
    expect(refused).toHaveLength(1);
    expect(refused[0].data.rule).toBe("invalid_arguments");
  });

  it("a disabled row and one that never was answer alike", async () => {
    for (const key of ["LAW_OFF", "LAW_NOWHERE"]) {
      const { result, receipts } = await through(door, key, "x");
      expect(result).toContain("unknown_key");
      expect(receipts).toEqual([]);
    }
  });

  it("a secret that the upstream echoes is seen by nobody", async () => {
    const { result, receipts } = await through(door, "LAW_LEAK", "");
    expect(String(result)).toContain("[redacted:TEST_BEARER]");
    expect(JSON.stringify([result, receipts])).not.toContain("s3cr3t");
  });

  it("a value with quotes, braces and slots arrives as it was sent", async () => {
    const value = 'a"b}{ \\ > c => $1 é';
    const { result } = await through(door, "LAW_READ", value);
    expect(String(result)).toContain(encodeURIComponent(value).replace(/'/g, "%27"));
  });
});
