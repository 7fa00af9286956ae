/**
 * What a call must cost at least on this platform, each floor the one before and one more step:
 * a a route, b an object that inserts and signs one row, c a D1 read, u an upstream. The product is
 * measured against these, in the same runtime and the same run.
 */
import { generateKeyPairSync, sign } from "node:crypto";
import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";

interface FloorEnv {
  DB: D1Database;
  FLOOR: DurableObjectNamespace<FloorDO>;
}

export class FloorDO extends DurableObject<FloorEnv> {
  readonly #key = generateKeyPairSync("ed25519").privateKey;

  constructor(ctx: DurableObjectState, env: FloorEnv) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "create table if not exists log(seq integer primary key, text text not null)",
    );
  }

  /** One row of a receipt's size, signed. The answer waits until it is durable. */
  append(text: string): string {
    const signature = sign(null, Buffer.from(text), this.#key).toString("base64url");
    this.ctx.storage.sql.exec("insert into log(text) values (?)", text + signature);
    return signature;
  }
}

const app = new Hono<{ Bindings: FloorEnv }>();

/** Reads the body as any invocation does, and answers as many bytes as asked for. */
app.all("/a", async (c) => {
  await c.req.text();
  return answer(c.req.query("bytes"));
});

app.all("/b", async (c) => {
  await c.req.text();
  await append(c.env, c.req.query("row"));
  return answer(c.req.query("bytes"));
});

app.all("/c", async (c) => {
  await c.req.text();
  await c.env.DB.prepare("select * from directory where key = ?").bind("NOW").first();
  await append(c.env, c.req.query("row"));
  return answer(c.req.query("bytes"));
});

app.all("/u", async (c) => {
  await c.req.text();
  await (await fetch(c.req.query("upstream")!)).text();
  await append(c.env, c.req.query("row"));
  return answer(c.req.query("bytes"));
});

function append(env: FloorEnv, bytes: string | undefined): Promise<string> {
  return env.FLOOR.getByName("floor").append("r".repeat(Number(bytes)));
}

function answer(bytes: string | undefined): Response {
  return new Response("x".repeat(Number(bytes)), {
    headers: { "content-type": "application/json" },
  });
}

export default app;
