import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { STARTER_ROWS } from "../../src/core/starter-rows.ts";
import { request, type Answer } from "../support/client.ts";
import { insertRow } from "../support/directory-app.ts";

const get = (query: string): Promise<Answer> =>
  request(`/api/dispatch${query}`, { anonymous: true });

beforeAll(async () => {
  for (const row of STARTER_ROWS) await insertRow(env.DB, { ...row });
});

describe("registry and map", () => {
  it("counts what they show by the predicates of the directory", async () => {
    await insertRow(env.DB, {
      key: "ZZ_TEST_ROW",
      type: "fn",
      target: "now",
      category: "time",
      content: "# WHAT: a test",
    });
    const { counts } = (await request("/api/directory?limit=1")).json;
    const [registry, map] = [(await get("?registry=1&limit=500")).json, (await get("?map=1")).json];
    expect(registry).toMatchObject({ protocol: "OIP", kind: "registry", count: counts.registry });
    expect(registry.rows).toHaveLength(counts.registry);
    expect(map).toMatchObject({ kind: "map", total: counts.enabled });
    const sum = map.categories.reduce(
      (total: number, { count }: { count: number }) => total + count,
      0,
    );
    expect(sum).toBe(counts.enabled);
  });

  it("pages through every row once, without what a row keeps to itself", async () => {
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = (
        await get(`?registry=1&limit=4${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
      ).json;
      for (const row of page.rows)
        expect(Object.keys(row)).toEqual(["key", "type", "category", "what"]);
      seen.push(...page.rows.map((row: { key: string }) => row.key));
      cursor = page.cursor ?? "";
    } while (cursor !== "");
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toHaveLength((await get("?registry=1")).json.count);
  });

  it("keeps to a category", async () => {
    const { count, rows } = (await get("?registry=1&category=text")).json;
    expect(rows.map((row: { key: string }) => row.key).sort()).toEqual(["ECHO", "LAST_REPLY"]);
    expect(count).toBe(2);
  });

  it.each(["limit=0", "limit=501", "limit=x", "cursor=nonsense"])(
    "refuses a bad page: %s",
    async (query) => {
      const answer = await get(`?registry=1&${query}`);
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({ ran: false });
    },
  );
});
