import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CallInput } from "../../src/core/call.ts";
import type { Json } from "../../src/core/json.ts";
import { stringifyExact } from "../../src/core/json-text.ts";
import { fn, fnOperation, fnOwnerOnly, functions } from "../../src/runners/fn.ts";
import { runContext } from "../support/run-context.ts";

async function run(
  target: string | null,
  input: CallInput | string = "",
  content = '["$1","$2","$3"]',
  nowMs = 0,
): Promise<Json> {
  const result = await fn.run(runContext({ row: { target, content }, input, nowMs }));
  expect(result.ok, JSON.stringify(result.result)).toBe(
    !(typeof result.result === "string" && result.result.startsWith("ERR:")),
  );
  return result.result;
}

const ONE = '["$1"]';
const TWO = '["$1","$2"]';
const pieces = (...list: string[]): CallInput => ({ kind: "pieces", pieces: list });

describe("a fn row", () => {
  it("whose target is no function says so, whatever its payload", async () => {
    for (const target of ["nope", "constructor", "__proto__", "toString", "NOW"]) {
      expect(await run(target, "", "not json")).toBe(`ERR:fn:unknown_target:${target}`);
    }
    expect(await run(null)).toBe("ERR:fn:unknown_target:");
  });

  it("takes its first argument when it has no payload", async () => {
    expect(await run("echo", 'say "hi"|ignored', "# WHAT: docs only")).toBe('say "hi"');
  });

  it("whose payload is no JSON array says what is wrong", async () => {
    expect(await run("echo", "", "[1,")).toMatch(/^ERR:fn:bad_content_json:.+/);
    expect(await run("echo", "", '{"a":1}')).toBe("ERR:fn:content_not_array");
    expect(await run("echo", "", '"$1"')).toBe("ERR:fn:content_not_array");
  });

  it("never lets a value become more than its argument", async () => {
    const values = fc.asyncProperty(
      fc.string({ unit: "binary" }),
      fc.string(),
      async (first, second) => {
        const given = [first.toWellFormed(), second.toWellFormed()];
        expect(await run("echo", pieces(...given), TWO)).toEqual(given);
      },
    );
    await fc.assert(values, { numRuns: 200 });
  });

  it("that throws is a failure without a stack", async () => {
    const kv = {
      get: () => Promise.reject(new Error("KV GET failed: 500")),
    } as unknown as KVNamespace;
    const result = await fn.run(
      runContext({ row: { target: "kv_get" }, input: "k", stores: { kv } }),
    );
    expect(result).toEqual({ ok: false, result: "ERR:fn:kv_get:KV GET failed: 500", attempts: 1 });
  });

  it("shows the function and its arguments as shape", async () => {
    const shape = (content: string) =>
      fn.shape(runContext({ row: { target: "echo", content }, input: "a|b" }));
    expect(await shape(TWO)).toEqual({ function: "echo", arguments: ["a", "b"] });
    expect(await shape("{}")).toEqual({ function: "echo", error: "ERR:fn:content_not_array" });
  });
});

describe("the map", () => {
  it("says of each function whether it writes and whether it is the owner's", () => {
    const named = (wanted: (name: string) => boolean): string[] =>
      [...functions.keys()].filter(wanted).sort();
    expect(named(fnOwnerOnly)).toEqual([
      "d1_query",
      "directory_get",
      "directory_patch",
      "directory_put",
      "email_send",
    ]);
    expect(named((name) => fnOperation(name) === "read")).toEqual([
      "agent_memory",
      "d1_query",
      "directory_get",
      "echo",
      "json_get",
      "kv_get",
      "last_reply_of",
      "now",
      "r2_get",
      "template",
      "vector_query",
      "workflow_status",
    ]);
    expect([fnOperation(null), fnOperation("nope"), fnOperation("constructor")]).toEqual([
      "read",
      "read",
      "read",
    ]);
    expect(fnOwnerOnly("nope")).toBe(false);
    for (const [name, entry] of functions)
      expect(entry).toMatchObject({ name, summary: expect.stringMatching(/\.$/) });
  });

  it("answers for a function whose binding is missing", async () => {
    const bindings = {
      queue_send: "QUEUE",
      workflow_start: "WORKFLOW",
      ai_run: "AI",
      vector_query: "VECTORIZE",
      email_send: "EMAIL",
      run_code: "LOADER",
      adjudicate: "AGENT",
      r2_get: "BLOBS",
    };
    for (const [name, binding] of Object.entries(bindings)) {
      expect(await run(name, "x", ONE)).toBe(`ERR:fn:not_configured:${binding}`);
    }
  });

  it("names the argument that is bad", async () => {
    expect(await run("json_get", "", "[]")).toBe("ERR:fn:bad_arguments:json_get:json is missing");
    expect(await run("json_get", "{}", ONE)).toBe(
      "ERR:fn:bad_arguments:json_get:pointer is missing",
    );
    expect(await run("last_reply_of", "a|b", TWO)).toBe(
      "ERR:fn:bad_arguments:last_reply_of:takes at most 1: text",
    );
  });
});

describe("now", () => {
  const at = (iso: string, zone: string) => run("now", zone, ONE, Date.parse(iso));

  it("tells the moment in the deployment's zone, or in the one that is named", async () => {
    expect(await at("2026-07-26T01:35:56.789Z", "")).toEqual({
      now: "2026-07-25T18:35:56-07:00",
      today: "2026-07-25",
      time: "18:35:56",
      zone: "America/Los_Angeles",
      iso: "2026-07-25T18:35:56-07:00",
    });
    expect(await at("2026-07-26T01:35:56Z", "Asia/Kathmandu")).toMatchObject({
      iso: "2026-07-26T07:20:56+05:45",
      time: "07:20:56",
    });
    expect(await at("2026-07-26T00:00:00Z", "UTC")).toMatchObject({
      iso: "2026-07-26T00:00:00+00:00",
      time: "00:00:00",
    });
    expect(await at("2026-07-26T00:00:00Z", "America/St_Johns")).toMatchObject({
      iso: "2026-07-25T21:30:00-02:30",
    });
  });

  it("changes its offset with daylight saving", async () => {
    const iso = async (moment: string, zone: string) =>
      ((await at(moment, zone)) as { iso: string }).iso;
    expect(await iso("2026-03-29T00:59:59Z", "Europe/Berlin")).toBe("2026-03-29T01:59:59+01:00");
    expect(await iso("2026-03-29T01:00:00Z", "Europe/Berlin")).toBe("2026-03-29T03:00:00+02:00");
    expect(await iso("2026-10-25T00:30:00Z", "Europe/Berlin")).toBe("2026-10-25T02:30:00+02:00");
    expect(await iso("2026-10-25T01:30:00Z", "Europe/Berlin")).toBe("2026-10-25T02:30:00+01:00");
    expect(await iso("2026-10-03T16:00:00Z", "Australia/Lord_Howe")).toBe(
      "2026-10-04T03:00:00+11:00",
    );
  });

  it("names a zone that does not exist as a bad argument", async () => {
    for (const zone of ["Mars/Olympus", "$1", "'; drop table", "europe"]) {
      expect(await at("2026-01-01T00:00:00Z", zone)).toMatch(/^ERR:fn:bad_arguments:now:zone /);
    }
  });
});

describe("echo", () => {
  it("returns the single argument, or the array of them", async () => {
    expect(await run("echo", "a|b", TWO)).toEqual(["a", "b"]);
    expect(await run("echo", "x", '[{"v":"$1"}]')).toEqual({ v: "x" });
    expect(await run("echo", "", "[]")).toEqual([]);
    expect(await run("echo", "", "[null]")).toBe(null);
  });

  it("keeps the digits of a number that JavaScript would round", async () => {
    expect(stringifyExact(await run("echo", "2574604874062343519", "[$1]"))).toBe(
      "2574604874062343519",
    );
  });

  it("of a text that begins ERR: is a failure, as every such output is", async () => {
    expect(await run("echo", "ERR:made:up", ONE)).toBe("ERR:made:up");
  });
});

describe("last_reply_of", () => {
  it("takes the inside of the last complete reply", async () => {
    const texts = {
      "[REPLY]a[/REPLY] x [REPLY]b[/REPLY]": "b",
      "[REPLY] a\n[/REPLY]": " a\n",
      "[REPLY]a[/REPLY] [REPLY]open": "a",
      "[REPLY]x [REPLY]y[/REPLY]": "y",
      "[REPLY]a[/REPLY] stray [/REPLY]": "a",
      "[REPLY][/REPLY]": "",
    };
    for (const [text, reply] of Object.entries(texts))
      expect(await run("last_reply_of", text, ONE), text).toBe(reply);
  });

  it("fails without one", async () => {
    for (const text of [
      "",
      "plain",
      "[REPLY]open",
      "[/REPLY]",
      "[/REPLY][REPLY]",
      "[reply]a[/reply]",
    ]) {
      expect(await run("last_reply_of", text, ONE), text).toBe("ERR:fn:no_reply");
    }
  });
});

describe("json_get", () => {
  const get = (json: string, pointer: string) => run("json_get", pieces(json, pointer), TWO);

  it("reads RFC 6901 pointers", async () => {
    const json = '{"a":{"b":[10,20]},"x/y":1,"m~n":2,"":3,"__proto__":4,"01":5}';
    const values = {
      "/a/b/1": 20,
      "/a/b": [10, 20],
      "/x~1y": 1,
      "/m~0n": 2,
      "/": 3,
      "/__proto__": 4,
      "/01": 5,
    };
    for (const [pointer, value] of Object.entries(values))
      expect(await get(json, pointer)).toEqual(value);
    expect(await get("[1]", "")).toEqual([1]);
  });

  it("finds null where nothing is", async () => {
    for (const pointer of ["/b", "/a/9", "/a/01", "/a/-", "/toString", "/a/length", "/a/0/x"]) {
      expect(await get('{"a":[1]}', pointer), pointer).toBe(null);
    }
  });

  it("reads the body of an http result, and a value that is JSON already", async () => {
    expect(await get('HTTP 200:{"t":7}', "/t")).toBe(7);
    expect(await run("json_get", "/t", '[{"t":8},"$1"]')).toBe(8);
  });

  it("keeps digits", async () => {
    expect(stringifyExact(await get('{"id":2574604874062343519}', "/id"))).toBe(
      "2574604874062343519",
    );
  });

  it("names what is no JSON and what is no pointer", async () => {
    expect(await get("{oops", "/a")).toMatch(/^ERR:fn:bad_arguments:json_get:json must be JSON: /);
    expect(await get("{}", "a")).toMatch(
      /^ERR:fn:bad_arguments:json_get:pointer must be an RFC 6901 pointer/,
    );
    expect(await get("{}", "/~2")).toMatch(/^ERR:fn:bad_arguments:json_get:pointer /);
  });
});

describe("template", () => {
  const fill = (text: string, json: string) => run("template", pieces(text, json), TWO);

  it("fills names once, text as it is and other values as JSON", async () => {
    expect(
      await fill("{{ a }}-{{b}}-{{c}}", '{"a":"{{b}} $& $1","b":[1,null],"c":2574604874062343519}'),
    ).toBe("{{b}} $& $1-[1,null]-2574604874062343519");
  });

  it("leaves a name without a value as it stands", async () => {
    expect(await fill("{{x}} {{toString}} {{}} {{{a}}}", '{"a":1}')).toBe(
      "{{x}} {{toString}} {{}} {1}",
    );
  });

  it("takes nothing but an object", async () => {
    for (const json of ["[1]", "5", "null", "oops"]) {
      expect(await fill("{{0}}", json)).toMatch(/^ERR:fn:bad_arguments:template:json must be /);
    }
  });
});
