import { makeApp } from "./http/app.ts";
import { makeRuntimeOf, type RuntimeOf } from "./runtime.ts";

export { LedgerDO } from "./objects/ledger.ts";

const runtimeOf: RuntimeOf = makeRuntimeOf((request, env) => app.fetch(request, env));
const app = makeApp(runtimeOf);

export default {
  fetch: (request, env, ctx) => app.fetch(request, env, ctx),
} satisfies ExportedHandler<Env>;
