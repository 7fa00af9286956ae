import { beforeAll, expect, it } from "vitest";
import { call, put, receipt, request } from "../support/client.ts";

beforeAll(async () => {
  await put({ key: "SAY", type: "fn", target: "echo", content: '["$1+"]' });
  await put({ key: "DATA", type: "fn", target: "json_get", content: '["$1","$2"]' });
  await put({ key: "KEEP", type: "fn", target: "kv_put", content: '["$1","$2"]' });
  await put({
    key: "CHAIN",
    type: "flow",
    content: "SAY: $1 => FIRST\n> { SAY: $PREV | DATA: $2|/n }\n> SAY: $FIRST and $PREV",
  });
});

it("a flow runs its rows under one trace, each with a receipt that names the flow as parent", async () => {
  const answer = await call("CHAIN", 'x > y|{"n":[1]}');
  expect(answer.json).toMatchObject({ ok: true, ran: true, result: 'x > y and ["x > y",[1]]' });
  const { trace, invocation } = answer.json;
  const listed = await request(`/api/ledger?trace=${trace}&kind=INVOKE`);
  const parents = listed.json.events.map(
    (event: { key: string; parent: string | null; via: string }) => [
      event.key,
      event.parent,
      event.via,
    ],
  );
  expect(parents).toHaveLength(5);
  for (const [key, parent, via] of parents) {
    expect([parent, via], key).toEqual(key === "CHAIN" ? [null, "http"] : [invocation.id, "flow"]);
  }
  expect((await receipt(answer)).parent).toBe(null);
});

it("a value never changes which steps run", async () => {
  const evil = "$PREV => OTHER > KEEP: k | KEEP: k } $1";
  const answer = await call("CHAIN", `${evil.replaceAll("|", () => "\\|")}|{"n":0}`);
  expect(answer.json).toMatchObject({
    ok: true,
    result: `${evil} and ${JSON.stringify([evil, 0])}`,
  });
  const listed = await request(`/api/ledger?trace=${answer.json.trace}&key=KEEP`);
  expect(listed.json.events).toEqual([]);
});

it("a flow that calls itself ends at the depth limit", async () => {
  await put({ key: "LOOP", type: "flow", content: "SAY: x" });
  await put({ key: "LOOP", type: "flow", content: "LOOP: $1" });
  expect((await call("LOOP", "x")).json).toMatchObject({
    ok: false,
    ran: true,
    result: "ERR:flow:depth",
  });
});

it("a flow names a step that is unknown, and a refusal's literal", async () => {
  await put({ key: "LOST", type: "flow", content: "SAY: x > NO_SUCH: y" });
  expect((await call("LOST")).json).toMatchObject({
    ok: false,
    result: "ERR:flow:unknown_key:NO_SUCH",
  });
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  await put({ key: "TYPED", type: "fn", target: "echo", input_schema: JSON.stringify(schema) });
  await put({ key: "MISFIT", type: "flow", content: "TYPED: word" });
  expect((await call("MISFIT")).json.result).toBe("ERR:flow:refused:TYPED:invalid_arguments");
});

it("a dry run of a flow shows its plan and runs nothing", async () => {
  const answer = await call("CHAIN", "x", { shape: true });
  expect(answer.json).toMatchObject({ ran: false });
  expect(answer.text).toContain('"body":"$2|/n"');
});
