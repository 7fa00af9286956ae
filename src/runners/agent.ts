import type { CallInput } from "../core/call.ts";
import type { Json } from "../core/json.ts";
import { failed, type Runner } from "../dispatch/runner.ts";

/** A turn needs a model, and this deployment names no endpoint of one: an agent row says so (SPEC §11). */
export const agent: Runner = {
  async run() {
    return failed("ERR:agent:not_configured:MODEL_ENDPOINTS");
  },

  async shape({ capability, call }) {
    return {
      model: capability.row.target,
      system: capability.doc.payload,
      input: inputOf(call.input),
    };
  },
};

function inputOf(input: CallInput): Json {
  switch (input.kind) {
    case "body":
      return input.text;
    case "pieces":
      return input.pieces;
    case "args":
      return input.args;
  }
}
