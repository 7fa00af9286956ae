import { env, exports } from "cloudflare:workers";
import { expect, inject, it } from "vitest";

it("runs", async () => {
  const answer = await exports.default.fetch("https://example.com/");
  expect(answer.status).toBe(200);
  expect(await env.DB.prepare("select count(*) n from directory").first("n")).toBe(0);
  const up = await fetch(`${inject("upstream")}/x`);
  expect(await up.text()).toBe("GET /x"); expect((env as any).ALLOW_PRIVATE_HOSTS).toBe(new URL(inject("upstream")).host);
});
