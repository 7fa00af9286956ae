import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { makeApp } from "../../src/http/app.ts";
import { makeRuntimeOf } from "../../src/runtime.ts";
import { OWNER_KEY, put, request } from "../support/client.ts";

const upstream = inject("upstream");
const count = { d1: 0, object: 0 };

/** The deployment's own bindings, which count how often a call goes to them. */
const DB = new Proxy(env.DB, {
  get(target, name) {
    if (name === "prepare") return (sql: string) => counted(target.prepare(sql));
    if (name === "batch")
      return (...args: Parameters<D1Database["batch"]>) => (count.d1++, target.batch(...args));
    const value: unknown = Reflect.get(target, name);
    return typeof value === "function" ? value.bind(target) : value;
  },
});

function counted(statement: D1PreparedStatement): D1PreparedStatement {
  return new Proxy(statement, {
    get(target, name) {
      if (name === "bind") return (...values: unknown[]) => counted(target.bind(...values));
      if (["first", "all", "run", "raw"].includes(String(name))) count.d1++;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const LEDGER = new Proxy(env.LEDGER, {
  get(target, name) {
    if (name === "get") {
      return (id: DurableObjectId) =>
        new Proxy(target.get(id), {
          get:
            (stub, method) =>
            (...args: unknown[]) => {
              count.object++;
              // Not by apply: a method of a stub is itself a stub, whose every member is one more.
              return (stub as unknown as Record<string, (...given: unknown[]) => unknown>)[
                String(method)
              ]!(...args);
            },
        });
    }
    const value: unknown = Reflect.get(target, name);
    return typeof value === "function" ? value.bind(target) : value;
  },
});

const counting = { ...env, DB, LEDGER } as Env;
const app = makeApp(makeRuntimeOf((inner) => app.fetch(inner, counting)));

async function call(key: string): Promise<{ d1: number; object: number; ok: unknown }> {
  Object.assign(count, { d1: 0, object: 0 });
  const answer = await app.fetch(
    new Request("https://example.com/api/dispatch", {
      method: "POST",
      headers: { "x-terminal-key": OWNER_KEY },
      body: JSON.stringify({ key, body: "x" }),
    }),
    counting,
    createExecutionContext(),
  );
  const { ok } = await answer.json<{ ok: unknown }>();
  return { ...count, ok };
}

beforeAll(async () => {
  await put({ key: "COUNT_FN", type: "fn", target: "echo" });
  await put({ key: "COUNT_GET", type: "http", target: `GET ${upstream}/echo` });
  await put({ key: "COUNT_POST", type: "http", target: `POST ${upstream}/echo` });
  await put({
    key: "COUNT_AUTH",
    type: "http",
    target: `GET ${upstream}/echo`,
    auth: "bearer:TEST_BEARER",
  });
  await request("/api/secrets/TEST_BEARER", {
    method: "PUT",
    body: { hosts: [new URL(upstream).host] },
  });
});

describe("the round trips of a call", () => {
  beforeEach(async () => {
    for (const key of ["COUNT_FN", "COUNT_GET", "COUNT_POST", "COUNT_AUTH"]) await call(key);
  });

  it.each([
    ["a warm reading fn row", "COUNT_FN", { d1: 0, object: 1 }],
    ["a warm http GET row", "COUNT_GET", { d1: 0, object: 1 }],
    ["a warm writing row", "COUNT_POST", { d1: 0, object: 2 }],
    ["a warm reading row that spends a secret", "COUNT_AUTH", { d1: 0, object: 2 }],
  ])("of %s are as few as can be", async (_name, key, expected) => {
    expect(await call(key)).toEqual({ ...expected, ok: true });
  });

  it("after a write are one D1 query and one object call more, once", async () => {
    await put({ key: "COUNT_FN", type: "fn", target: "echo", content: '["again"]' });
    expect(await call("COUNT_FN")).toEqual({ d1: 1, object: 2, ok: true });
    expect(await call("COUNT_FN")).toEqual({ d1: 0, object: 1, ok: true });
  });
});
