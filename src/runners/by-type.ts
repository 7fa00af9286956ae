import type { Capability } from "../core/call.ts";
import type { RowType } from "../core/row.ts";
import { isRowType } from "../core/row.ts";
import type { Runner } from "../dispatch/runner.ts";
import { agent } from "./agent.ts";
import { flow } from "./flow.ts";
import { fn } from "./fn.ts";
import { http } from "./http.ts";

const RUNNERS: Record<RowType, Runner> = { fn, http, agent, flow };

/** The row's `runner` column overrides what its type infers; a name that is no runner changes nothing. */
export function runnerOf({ row }: Capability): Runner {
  return RUNNERS[isRowType(row.runner) ? row.runner : row.type];
}
