export { LedgerDO } from "./objects/ledger.ts";

export default {
  fetch(): Response {
    return new Response("ok");
  },
} satisfies ExportedHandler<Env>;
