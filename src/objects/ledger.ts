import { DurableObject } from "cloudflare:workers";

export class LedgerDO extends DurableObject<Env> {}
