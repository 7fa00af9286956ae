import { describe, expect, it } from "vitest";
import { MAX_DEPTH, type Call, type Outcome } from "../../src/core/call.ts";
import type { Json } from "../../src/core/json.ts";
import { failed, succeeded } from "../../src/dispatch/runner.ts";
import { flow } from "../../src/runners/flow.ts";
import { ran, runContext } from "../support/run-context.ts";

type Rows = { [key: string]: (pieces: string[], call: Call) => Json | Promise<Json> };

/** Rows by key: what each answers to the pieces of a call; another key is unknown. */
function scene(payload: string, rows: Rows, more: { input?: string; call?: Partial<Call> } = {}) {
  const calls: Call[] = [];
  const dispatch = async (call: Call): Promise<Outcome> => {
    calls.push(call);
    const row = rows[call.key];
    if (!row || call.input.kind !== "pieces") {
      const refusal = { status: 404 as const, error: "unknown_key", hint: "" };
      return { kind: "refused", key: call.key, trace: call.trace, refusal };
    }
    const result = await row(call.input.pieces, call);
    const isError = typeof result === "string" && result.startsWith("ERR:");
    return ran(call, isError ? failed(result) : succeeded(result));
  };
  const context = runContext({
    row: { type: "flow", content: `# WHAT: a flow\n${payload}` },
    dispatch,
    ...more,
  });
  return { calls, context, run: () => flow.run(context) };
}

const ECHO: Rows = { ECHO: ([text]) => text!, JOIN: (pieces) => pieces.join("+") };

describe("a flow", () => {
  it("hands each step's output to the next as $PREV, and its own arguments to every step", async () => {
    const { run } = scene("ECHO: $1 > JOIN: $PREV|$2|$3+", ECHO, { input: "a|b|c|d" });
    expect(await run()).toEqual({ ok: true, result: "a+b+c|d", attempts: 1 });
  });

  it("binds outputs to names for all later steps, and $PREV is always the step before", async () => {
    const { run } = scene(
      "ECHO: one => A > ECHO: two => PREV > ECHO: three > JOIN: $A|$PREV|$LATER",
      ECHO,
    );
    expect((await run()).result).toBe("one+three+$LATER");
  });

  it("ends with its last step's output, a JSON value where that is one", async () => {
    const { run } = scene("ECHO: x > DATA: $PREV", {
      ...ECHO,
      DATA: ([text]) => ({ text: text!, n: 1 }),
    });
    expect((await run()).result).toEqual({ text: "x", n: 1 });
  });

  it("hands a JSON value on as its text", async () => {
    const { run } = scene("DATA: > ECHO: $PREV", { ...ECHO, DATA: () => ({ a: [1, "x|y"] }) });
    expect((await run()).result).toBe('{"a":[1,"x|y"]}');
  });

  it("calls each step as an ordinary child of its own invocation", async () => {
    const { run, calls, context } = scene("ECHO: x", ECHO, {
      call: { trace: "t_9", depth: 3, origin: "https://a.example" },
    });
    await run();
    expect(calls).toEqual([
      {
        key: "ECHO",
        input: { kind: "pieces", pieces: ["x"] },
        principal: context.call.principal,
        via: "flow",
        trace: "t_9",
        parent: context.invocation,
        depth: 4,
        origin: "https://a.example",
        shape: false,
        repairs: null,
        replays: null,
      },
    ]);
  });

  it("never lets a value change the plan", async () => {
    const evil = '$PREV => OTHER > EVIL: x | EVIL: y } { "$1 [';
    const { run, calls } = scene(
      "X: > ECHO: $PREV => N > JOIN: $N|$1|$PREV",
      { ...ECHO, X: () => evil },
      { input: "> EVIL: z" },
    );
    expect((await run()).result).toBe([evil, "> EVIL: z", evil].join("+"));
    expect(calls.map(({ key }) => key)).toEqual(["X", "ECHO", "JOIN"]);
  });
});

describe("a block", () => {
  it("runs its branches at once, and $PREV is the array of their outputs in written order", async () => {
    const started: string[] = [];
    const gate = Promise.withResolvers<void>();
    const meet = async ([text]: string[]): Promise<Json> => {
      if (started.push(text!) === 3) gate.resolve();
      await gate.promise;
      return text === "b" ? { b: 1 } : text!;
    };
    const { run } = scene("{ M: a | M: b | M: c } => ALL > JOIN: $PREV|$ALL", { ...ECHO, M: meet });
    const all = '["a",{"b":1},"c"]';
    expect((await run()).result).toBe(`${all}+${all}`);
  });

  it("as last stage makes the array the flow's result", async () => {
    expect((await scene("{ ECHO: a | ECHO: b }", ECHO).run()).result).toEqual(["a", "b"]);
  });

  it("sees $PREV of the stage before in each branch, and binds branches once all have ended", async () => {
    const { run } = scene(
      "ECHO: p > { JOIN: $PREV|$B => A | JOIN: $PREV|$A => B } > JOIN: $A|$B",
      ECHO,
    );
    expect((await run()).result).toBe("p+$B+p+$A");
  });

  it("that fails stops the flow with the first error in written order, after every branch has ended", async () => {
    let ended = false;
    const slow = async (): Promise<Json> => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      ended = true;
      return "ERR:slow";
    };
    const { run, calls } = scene("{ SLOW: | FAST: | NONE: } > ECHO: never", {
      ...ECHO,
      SLOW: slow,
      FAST: () => "ERR:fast",
    });
    expect(await run()).toEqual({ ok: false, result: "ERR:slow", attempts: 1 });
    expect(ended).toBe(true);
    expect(calls.map(({ key }) => key)).toEqual(["SLOW", "FAST", "NONE"]);
  });
});

describe("a flow fails with", () => {
  it("bad_step when its payload does not parse, and runs nothing", async () => {
    for (const [payload, error] of [
      ["", ""],
      ["ECHO: x > oops", "oops"],
    ] as const) {
      const { run, calls } = scene(payload, ECHO);
      expect(await run()).toEqual({ ok: false, result: `ERR:flow:bad_step:${error}`, attempts: 1 });
      expect(calls).toEqual([]);
    }
  });

  it("steps beyond a hundred", async () => {
    const payload = Array.from({ length: 101 }, () => "ECHO: x").join(" > ");
    expect((await scene(payload, ECHO).run()).result).toBe("ERR:flow:steps");
  });

  it("unknown_key and the key as written", async () => {
    const { run, calls } = scene("Nope: x > ECHO: y", ECHO);
    expect((await run()).result).toBe("ERR:flow:unknown_key:Nope");
    expect(calls).toHaveLength(1);
  });

  it("the literal of another refusal", async () => {
    const refusal = { status: 422 as const, error: "invalid_arguments", hint: "" };
    const context = runContext({
      row: { type: "flow", content: "TYPED: x" },
      dispatch: async (call) => ({ kind: "refused", key: call.key, trace: call.trace, refusal }),
    });
    expect((await flow.run(context)).result).toBe("ERR:flow:refused:TYPED:invalid_arguments");
  });

  it("the output of the step that failed, and runs no further", async () => {
    const { run, calls } = scene("ECHO: a > BAD: > ECHO: b", {
      ...ECHO,
      BAD: () => "ERR:http:500:no",
    });
    expect(await run()).toEqual({ ok: false, result: "ERR:http:500:no", attempts: 1 });
    expect(calls).toHaveLength(2);
  });

  it("the engine's own fault thrown, once every branch has ended", async () => {
    let ended = false;
    const slow = async (): Promise<Json> => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      ended = true;
      return "x";
    };
    const crash = (): never => {
      throw new Error("the ledger is gone");
    };
    await expect(scene("{ CRASH: | SLOW: }", { CRASH: crash, SLOW: slow }).run()).rejects.toThrow(
      "ledger",
    );
    expect(ended).toBe(true);
  });
});

describe("nesting", () => {
  /** A row that is the same flow again, `levels` times, and then ECHO. */
  async function nest(levels: number): Promise<Json> {
    const at = (depth: number): Promise<Json> => {
      const next = depth + 1 < levels ? "INNER: $1" : "ECHO: $1";
      const inner: Rows = { ...ECHO, INNER: (_pieces, call) => at(call.depth) };
      return scene(next, inner, { input: "deep", call: { depth } })
        .run()
        .then(({ result }) => result);
    };
    return at(0);
  }

  it("goes eight levels down and no deeper", async () => {
    expect(await nest(MAX_DEPTH)).toBe("deep");
    expect(await nest(MAX_DEPTH + 1)).toBe("ERR:flow:depth");
  });

  it("ends for a flow that calls itself", async () => {
    const again = (depth: number): Promise<Json> =>
      scene("SELF:", { SELF: (_pieces, call) => again(call.depth) }, { call: { depth } })
        .run()
        .then(({ result }) => result);
    expect(await again(0)).toBe("ERR:flow:depth");
  });
});

describe("the shape of a flow", () => {
  it("is its plan with keys and body templates, and nothing fires", async () => {
    const { context, calls } = scene("A: $1|x => N > { B: $N | C: }", ECHO);
    expect(await flow.shape(context)).toEqual({
      stages: [
        { kind: "step", key: "A", body: "$1|x", bind: "N" },
        {
          kind: "block",
          branches: [
            { key: "B", body: "$N", bind: null },
            { key: "C", body: "", bind: null },
          ],
          bind: null,
        },
      ],
    });
    expect(calls).toEqual([]);
  });

  it("names what keeps it from running", async () => {
    expect(await flow.shape(scene("oops", ECHO).context)).toEqual({
      error: "ERR:flow:bad_step:oops",
    });
  });
});
