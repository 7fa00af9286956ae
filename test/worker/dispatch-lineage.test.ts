import { beforeAll, describe, expect, it } from "vitest";
import { call, put, receipt, request } from "../support/client.ts";

beforeAll(async () => {
  await put({ key: "SAY", type: "fn", target: "echo" });
});

describe("a repair and a replay", () => {
  it("keep the lineage both ways", async () => {
    const wrong = await call("SAY", "wrnog");
    const right = await call("SAY", "wrong", { repairs: wrong.json.invocation.id });
    expect((await receipt(right)).data.repairs).toBe(wrong.json.invocation.id);
    expect((await receipt(wrong)).repaired_by).toEqual([right.json.invocation.id]);
    expect((await call("SAY", "x", { repairs: "inv_0_0000000000000000" })).json.error).toBe(
      "unknown_invocation",
    );
  });

  it("run the same key and input again, unless the contract changed", async () => {
    await put({ key: "AGAIN", type: "fn", target: "echo", content: '["v1 $1"]' });
    const first = await call("AGAIN", "a|b");
    const id = first.json.invocation.id;
    expect((await request(`/api/dispatch?replay=${id}`)).json).toMatchObject({
      key: "AGAIN",
      body: "a|b",
      ran: false,
      contract: { matches: true },
    });
    const second = await request("/api/dispatch", { body: { replay: id } });
    expect(second.json).toMatchObject({ ok: true, result: "v1 a" });
    expect((await receipt(second)).data.replays).toBe(id);

    await put({ key: "AGAIN", type: "fn", target: "echo", content: '["v2 $1"]' });
    const refused = await request("/api/dispatch", { body: { replay: id } });
    expect(refused.status).toBe(409);
    expect(refused.json.error).toMatch(/^contract_changed:[0-9a-f]{64}!=[0-9a-f]{64}$/);
    expect((await request(`/api/dispatch?replay=${id}`)).json.contract.matches).toBe(false);
    const forced = await request("/api/dispatch", { body: { replay: id, force: true } });
    expect(forced.json.result).toBe("v2 a");
  });

  it("are refused for what never was", async () => {
    expect(
      (await request("/api/dispatch", { body: { replay: "inv_0_0000000000000000" } })).status,
    ).toBe(404);
    expect((await request("/api/dispatch?replay=inv_0_0000000000000000")).status).toBe(404);
    expect(
      (await request("/api/dispatch?replay=inv_0_0000000000000000", { anonymous: true })).status,
    ).toBe(401);
  });
});

describe("a call to this deployment's own origin", () => {
  it("is dispatched inside with the caller's own principal", async () => {
    await put({ key: "SELF_HEALTH", type: "http", target: "GET /healthz" });
    const answer = await call("SELF_HEALTH", "", { as: "json" });
    expect(answer.json.result).toMatchObject({ ok: true, bindings: { DB: true, LEDGER: true } });
    await put({ key: "SELF_ROW", type: "http", target: "GET /api/directory/$1" });
    expect((await call("SELF_ROW", "SAY", { select: ["/row/key"] })).json.result).toEqual({
      "/row/key": "SAY",
    });
  });

  it("stops at the depth limit instead of turning in a circle", async () => {
    await put({
      key: "CIRCLE",
      type: "http",
      target: "POST /api/dispatch",
      content: '{"key":"CIRCLE"}',
    });
    const answer = await call("CIRCLE");
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("ERR:http:depth");
  });
});
