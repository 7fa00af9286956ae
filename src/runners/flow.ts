import { withBindings } from "../core/arguments.ts";
import { MAX_DEPTH, resultText, type Outcome, type RunResult } from "../core/call.ts";
import { parseFlow, type FlowStage, type FlowStep } from "../core/flow.ts";
import type { Json } from "../core/json.ts";
import { renderStepBody } from "../core/substitute.ts";
import { failed, type RunContext, type Runner } from "../dispatch/runner.ts";

/** What earlier stages left to later ones; `PREV` is the output of the stage before. */
type Bindings = Map<string, string>;

/**
 * Runs the rows of a flow in order (SPEC §5). The plan is made from the payload alone, so no value can
 * change it, and each step is an ordinary call of the same principal: its own gate, receipt and parent.
 */
export const flow: Runner = {
  async run(context) {
    const parsed = parseFlow(context.capability.doc.payload);
    if (!parsed.ok) return failed(parsed.error);
    if (context.call.depth >= MAX_DEPTH) return failed("ERR:flow:depth");
    const bindings: Bindings = new Map();
    let last: RunResult = failed("ERR:flow:bad_step:");
    for (const stage of parsed.plan.stages) {
      last = await runStage(context, stage, bindings);
      if (!last.ok) return last;
      bindings.set("PREV", resultText(last.result));
    }
    return last;
  },

  async shape(context) {
    const parsed = parseFlow(context.capability.doc.payload);
    const shape: Json = parsed.ok
      ? { stages: parsed.plan.stages.map(stageShape) }
      : { error: parsed.error };
    return shape;
  },
};

function stageShape(stage: FlowStage): Json {
  if (stage.kind === "step") return { ...stage };
  return { ...stage, branches: stage.branches.map((step) => ({ ...step })) };
}

async function runStage(
  context: RunContext,
  stage: FlowStage,
  bindings: Bindings,
): Promise<RunResult> {
  const result =
    stage.kind === "step"
      ? await runStep(context, stage, bindings)
      : await runBlock(context, stage.branches, bindings);
  if (result.ok && stage.bind !== null) bindings.set(stage.bind, resultText(result.result));
  return result;
}

/**
 * All branches are awaited, whatever becomes of one of them: a call under way has effects and a
 * receipt. Branches see the bindings from before the block, and bind only once all have ended.
 */
async function runBlock(
  context: RunContext,
  branches: FlowStep[],
  bindings: Bindings,
): Promise<RunResult> {
  const settled = await Promise.allSettled(
    branches.map((step) => runStep(context, step, bindings)),
  );
  const results = settled.map((branch) => {
    if (branch.status === "rejected") throw branch.reason;
    return branch.value;
  });
  const failure = results.find((result) => !result.ok);
  if (failure) return failure;
  branches.forEach(({ bind }, index) => {
    if (bind !== null) bindings.set(bind, resultText(results[index]!.result));
  });
  return { ok: true, result: results.map(({ result }) => result), attempts: 1 };
}

async function runStep(
  { call, invocation, args, dispatch }: RunContext,
  step: FlowStep,
  bindings: Bindings,
): Promise<RunResult> {
  const outcome = await dispatch({
    key: step.key,
    input: { kind: "pieces", pieces: renderStepBody(step.body, withBindings(args, bindings)) },
    principal: call.principal,
    via: "flow",
    trace: call.trace,
    parent: invocation,
    depth: call.depth + 1,
    origin: call.origin,
    shape: false,
    repairs: null,
    replays: null,
  });
  return resultOf(step.key, outcome);
}

/** A step's outcome as a result of the flow. What the step told its own breaker stays with the step. */
function resultOf(key: string, outcome: Outcome): RunResult {
  switch (outcome.kind) {
    case "ran": {
      const { ok, result, truncated, auth } = outcome.run;
      return { ok, result, attempts: 1, ...(truncated && { truncated }), ...(auth && { auth }) };
    }
    case "refused": {
      const { error } = outcome.refusal;
      return failed(
        error === "unknown_key"
          ? `ERR:flow:unknown_key:${key}`
          : `ERR:flow:refused:${key}:${error}`,
      );
    }
    case "shape":
      throw new Error("a step was answered with a dry run");
  }
}
