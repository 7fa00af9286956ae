import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { packDraft, type SignedHead } from "../../src/core/chain.ts";
import { packParcel } from "../../src/objects/ledger-parcel.ts";
import type { LedgerDO } from "../../src/objects/ledger.ts";
import type { EventDraft } from "../../src/core/event.ts";
import { linesOf, verifyExport, type Verdict } from "../../src/core/verify.ts";
import type { Principal } from "../../src/core/principal.ts";
import type { AppEnv } from "../../src/http/app-env.ts";
import { ledgerRoutes } from "../../src/http/ledger.ts";
import { ledgerAdmin } from "../../src/objects/stubs.ts";

/** A moment that never moves: order in the log comes from seq alone. */
export const AT = "2026-08-01T00:00:00.000Z";

let count = 0;

export function makeDraft(given: Partial<EventDraft> = {}): EventDraft {
  count++;
  return {
    id: `inv_0_${String(count).padStart(16, "0")}`,
    kind: "INVOKE",
    at: AT,
    actor: "owner",
    via: "http",
    key: "ECHO",
    trace: "t_1",
    parent: null,
    data: { ok: true, output: "x" },
    ...given,
  };
}

/** An append inside the object, without the way there. */
export function appendTo(instance: LedgerDO, draft: EventDraft): void {
  const { head, data } = packParcel(null, packDraft(draft));
  instance.append(head, data ?? "{}");
}

export function request(
  path: string,
  init: RequestInit = {},
  kind: Principal["kind"] = "owner",
): Promise<Response> {
  const app = new Hono<AppEnv>();
  app.use(async (c, next) => {
    c.set("principal", { kind });
    await next();
  });
  app.route("/", ledgerRoutes());
  return Promise.resolve(app.request(`https://example.com${path}`, init, env));
}

/** Reads the log from zero, as every test of it ends. */
export async function verifyLog(): Promise<Verdict> {
  return verifyAnswer(await request("/api/ledger/export"));
}

export async function verifyAnswer(answer: Response): Promise<Verdict> {
  return verifyExport(linesOf(answer.body ?? []));
}

export async function readHead(): Promise<SignedHead> {
  return ledgerAdmin(env).head();
}
