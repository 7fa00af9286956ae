import { expect, it } from "vitest";
import { agent } from "../../src/runners/agent.ts";
import { runContext } from "../support/run-context.ts";

const row = {
  type: "agent" as const,
  target: "default",
  content: "# WHAT: a guide\nYou are kind.",
};

it("an agent row says that no model endpoint is configured", async () => {
  const result = await agent.run(runContext({ row, input: "hi" }));
  expect(result).toEqual({
    ok: false,
    result: "ERR:agent:not_configured:MODEL_ENDPOINTS",
    attempts: 1,
  });
});

it("the shape of an agent row is its model, prompt and input", async () => {
  const shown = { model: "default", system: "You are kind." };
  expect(await agent.shape(runContext({ row, input: "hi|you" }))).toEqual({
    ...shown,
    input: "hi|you",
  });
  const input = { kind: "args" as const, args: { question: "why" } };
  expect(await agent.shape(runContext({ row, input }))).toEqual({
    ...shown,
    input: { question: "why" },
  });
});
