import { describe, expect, inject, it } from "vitest";
import { makePorts } from "../support/ports.ts";
import { get, write } from "../support/sending.ts";

const upstream = inject("upstream");

async function becomesClosed(id: string): Promise<boolean> {
  for (let tries = 0; tries < 40; tries += 1) {
    if ((await (await fetch(`${upstream}/closed/${id}`)).text()) === "true") return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

describe("the limit of bytes", () => {
  const small = makePorts({ MAX_RESPONSE_BYTES: "10" });

  it("cuts at a code point and says so", async () => {
    const at = (text: string) => get(`/status/200?body=${encodeURIComponent(text)}`, small);
    expect(await at("0123456789")).toEqual({
      ok: true,
      result: "HTTP 200:0123456789",
      attempts: 1,
      signal: "healthy",
    });
    expect(await at("0123456789a")).toEqual({
      ok: true,
      result: "HTTP 200:0123456789",
      attempts: 1,
      signal: "healthy",
      truncated: true,
    });
    expect((await at("12345678😀")).result).toBe("HTTP 200:12345678");
    expect((await at("é".repeat(9))).result).toBe("HTTP 200:ééééé");
  });

  it.each(["/bomb/gzip", "/bomb/br"])("counts decoded bytes of %s", async (path) => {
    const sent = await get(path, makePorts({ MAX_RESPONSE_BYTES: "100000" }));
    expect(sent.truncated).toBe(true);
    expect(sent.result).toHaveLength("HTTP 200:".length + 100_000);
  });

  it("stops a body without an end, and the connection is closed", async () => {
    const sent = await get("/endless/e1");
    expect(sent).toMatchObject({ ok: true, truncated: true });
    expect(String(sent.result).startsWith("HTTP 200:base64:")).toBe(false);
    expect(await becomesClosed("e1")).toBe(true);
  });

  it("does not believe Content-Length", async () => {
    expect((await get("/length?says=10&sends=50000000")).result).toBe(`HTTP 200:${"x".repeat(10)}`);
    const cut = await write("POST", "/length?says=100&sends=10");
    expect(cut).toMatchObject({ ok: false, attempts: 1, signal: "transport" });
    expect(cut.result).toMatch(/^ERR:http:fetch:[^/]+$/);
  });
});

describe("the limit of time", () => {
  const ports = makePorts({ HTTP_TIMEOUT_MS: "700" });

  it.each(["/mute/t1", "/stall/t2", "/drip/t3?ms=100"])(
    "ends %s for good and closes the connection",
    async (path) => {
      const startMs = Date.now();
      const sent = await get(path, ports);
      expect(sent).toEqual({
        ok: false,
        result: "ERR:http:timeout:700",
        attempts: 1,
        signal: "transport",
      });
      expect(Date.now() - startMs).toBeLessThan(1_200);
      expect(await becomesClosed(path.slice(1).split(/[/?]/)[1]!)).toBe(true);
    },
  );

  it("lets a body pass that ends in time", async () => {
    expect((await get("/drip/t4?ms=50&n=4", ports)).result).toBe("HTTP 200:xxxxdone");
  });

  it("holds over a chain of redirects as a whole", async () => {
    const to = encodeURIComponent(`${upstream}/mute/t5`);
    expect((await get(`/redirect/302?to=${to}`, ports)).result).toBe("ERR:http:timeout:700");
  });
});
