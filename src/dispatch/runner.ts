import type { Arguments } from "../core/arguments.ts";
import type { Call, Capability, Credential, RunResult } from "../core/call.ts";
import type { Json } from "../core/json.ts";
import type { DispatchChild, Ports } from "./ports.ts";

/** All that a runner may know of the call it serves. The gate has passed and the arguments are valid. */
export interface RunContext {
  ports: Ports;
  call: Call;
  /** Id of the invocation under way; nested calls name it as their parent. */
  invocation: string;
  capability: Capability;
  args: Arguments;
  credential: Credential;
  dispatch: DispatchChild;
}

/**
 * One way to run a row. `run` never throws for what a caller, a row or an upstream did: that is an
 * `ERR:` result. `shape` returns what `run` would send or execute, without credentials, and fires nothing.
 */
export interface Runner {
  run(context: RunContext): Promise<RunResult>;
  shape(context: RunContext): Promise<Json>;
}

export function failed(error: string, more: Partial<RunResult> = {}): RunResult {
  return { attempts: 1, ...more, ok: false, result: error };
}

export function succeeded(result: Json, more: Partial<RunResult> = {}): RunResult {
  return { attempts: 1, ...more, ok: true, result };
}
