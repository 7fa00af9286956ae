import { Hono, type Context } from "hono";
import { unauthorized, type Refusal } from "../core/failure.ts";
import type { LedgerEvent } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { pageUtf8 } from "../core/utf8.ts";
import { planReplay, receiptData } from "../dispatch/replay.ts";
import { ledgerAdmin } from "../objects/stubs.ts";
import type { AppEnv } from "./app-env.ts";
import { receiptPage } from "./receipt-page.ts";
import { refuseDispatch } from "./respond.ts";

/** UTF-8 bytes of one page of `?output=`. */
const PAGE_BYTES = 32 * 1024;

/** What anyone may know of an invocation: that it happened, and the hashes that prove it. */
export interface Confirmation {
  confirmed: true;
  status: string;
  key: string | null;
  at: string;
  actor_kind: string;
  fingerprints: { [name: string]: string };
  hash: string;
  signature: string;
  kid: string;
}

const NO_RECEIPT: Refusal = {
  status: 404,
  error: "unknown_invocation",
  hint: "The ledger holds no event of that id.",
};

/** `?receipt=`, `?confirm=`, `?replay=`, `?output=` of the dispatch endpoint, and the receipt's page. */
export function receiptRoutes(): Hono<AppEnv> {
  return new Hono<AppEnv>()
    .get("/api/dispatch", async (c, next) => {
      const verb = VERBS.find(([name]) => c.req.query(name) !== undefined);
      return verb ? verb[1](c, c.req.query(verb[0]) ?? "") : next();
    })
    .get("/receipt/:id", page);
}

type Verb = (c: Context<AppEnv>, id: string) => Promise<Response>;

const VERBS: readonly (readonly [string, Verb])[] = [
  ["confirm", confirm],
  ["receipt", receipt],
  ["replay", replay],
  ["output", output],
];

async function confirm(c: Context<AppEnv>, id: string): Promise<Response> {
  const event = await findReceipt(c, id);
  if (!event) return c.json({ confirmed: false }, 404);
  return c.json(confirmationOf(event));
}

async function receipt(c: Context<AppEnv>, id: string): Promise<Response> {
  if (!covers(c)) return refuseDispatch(c, unauthorized());
  const whole = await ledgerAdmin(c.env).receipt(id);
  return whole ? c.json(whole) : refuseDispatch(c, { ...NO_RECEIPT, members: { attempted: id } });
}

async function replay(c: Context<AppEnv>, id: string): Promise<Response> {
  if (!covers(c)) return refuseDispatch(c, unauthorized());
  const plan = await planReplay(c.get("ports"), id);
  if (plan.outcome === "refused") return refuseDispatch(c, plan.refusal);
  const { key, text, kind, recorded, current, matches } = plan;
  const input: { [name: string]: Json } =
    kind === "args" ? { args: JSON.parse(text) as Json } : { body: text };
  return c.json({
    ok: true,
    ran: false,
    replay: id,
    key,
    ...input,
    contract: { recorded, current, matches },
  });
}

async function output(c: Context<AppEnv>, id: string): Promise<Response> {
  if (!covers(c)) return refuseDispatch(c, unauthorized());
  const given = c.req.query("offset") ?? "0";
  if (!/^\d{1,15}$/.test(given)) {
    return refuseDispatch(c, {
      status: 400,
      error: "invalid_offset",
      hint: "offset is a whole number of UTF-8 bytes, as `next` or `more` gave it.",
    });
  }
  const ports = c.get("ports");
  const event = await ports.ledger.find(id);
  if (event?.kind !== "INVOKE")
    return refuseDispatch(c, { ...NO_RECEIPT, members: { attempted: id } });
  const data = receiptData(event);
  const text =
    data.output ?? (data.output_ref ? await ports.blobs.get(data.output_ref) : null) ?? "";
  const { page: part, next } = pageUtf8(text, Number(given), PAGE_BYTES);
  return c.json({ output: part, next });
}

/** People get a page, programs the same as JSON; input and output only with a credential. */
async function page(c: Context<AppEnv>): Promise<Response> {
  const id = c.req.param("id") ?? "";
  const event = await findReceipt(c, id);
  const wantsHtml = /\btext\/html\b/.test(c.req.header("accept") ?? "");
  c.header("vary", "accept, authorization, x-terminal-key");
  if (!event) {
    return wantsHtml
      ? receiptPage(c, { id, confirmation: null })
      : c.json({ confirmed: false }, 404);
  }
  const whole = covers(c) ? event : undefined;
  const confirmation = confirmationOf(event);
  if (wantsHtml) return receiptPage(c, { id, confirmation, ...(whole && { whole }) });
  return c.json({ ...confirmation, ...(whole && { receipt: whole }) });
}

/** Only what ran, or began to run, has a receipt; other events are the owner's, by `?receipt=`. */
async function findReceipt(c: Context<AppEnv>, id: string): Promise<LedgerEvent | null> {
  const event = await c.get("ports").ledger.find(id);
  return event?.kind === "INVOKE" || event?.kind === "INVOKE_STARTED" ? event : null;
}

/** A credential that covers the receipt's key: for now the owner's. */
function covers(c: Context<AppEnv>): boolean {
  return c.get("principal").kind === "owner";
}

function confirmationOf(event: LedgerEvent): Confirmation {
  const { status, fingerprints } = event.data as {
    status?: string;
    fingerprints: { [name: string]: string };
  };
  return {
    confirmed: true,
    status: status ?? "OPEN",
    key: event.key,
    at: event.at,
    actor_kind: event.actor.split(":", 1)[0] ?? event.actor,
    fingerprints,
    hash: event.hash,
    signature: event.signature,
    kid: event.kid,
  };
}
