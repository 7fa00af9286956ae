import { zValidator } from "@hono/zod-validator";
import { Hono, type Context, type Next } from "hono";
import { z } from "zod";
import { EVENT_KINDS } from "../core/event.ts";
import { unauthorized } from "../core/failure.ts";
import { ledgerAdmin, type LedgerAdmin } from "../objects/stubs.ts";
import type { AppEnv } from "./app-env.ts";
import { refuse } from "./respond.ts";

/** Events of one page of an export: two of them are in memory at most. */
const EXPORT_PAGE_EVENTS = 500;

const instant = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], "must be an ISO 8601 date or time")
  .transform((value) => new Date(value).toISOString());

const name = z.string().min(1, "must not be empty").max(256, "must have at most 256 characters");

/** Unknown names are refused: a misspelt filter would answer with everything. */
const filters = z.strictObject({
  kind: z.enum(EVENT_KINDS, `must be one of ${EVENT_KINDS.join(", ")}`).optional(),
  key: name.optional(),
  actor: name.optional(),
  trace: name.optional(),
  ok: z
    .enum(["true", "false", "1", "0"], "must be true or false")
    .transform((value) => value === "true" || value === "1")
    .optional(),
  since: instant.optional(),
  until: instant.optional(),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, "must be the cursor of an answer")
    .transform(Number)
    .optional(),
  limit: z
    .string()
    .regex(/^\d{1,3}$/, "must be from 1 to 500")
    .transform(Number)
    .refine((value) => value >= 1 && value <= 500, "must be from 1 to 500")
    .default(100),
});

/** Keys, list and export of the ledger (SPEC §7). Reading the log is the owner's; its public keys are anybody's. */
export function ledgerRoutes(): Hono<AppEnv> {
  return new Hono<AppEnv>()
    .get("/.well-known/jwks.json", async (c) => {
      c.header("cache-control", "public, max-age=60");
      return c.json(await ledgerAdmin(c.env).jwks());
    })
    .get("/api/ledger", ownerOnly, zValidator("query", filters, refuseFilter), async (c) => {
      const { cursor, ...filter } = c.req.valid("query");
      const { events, before } = await ledgerAdmin(c.env).list({
        ...filter,
        ...(cursor !== undefined && { before: cursor }),
      });
      return c.json({ events, ...(before !== null && { cursor: String(before) }) });
    })
    .get("/api/ledger/export", ownerOnly, async (c) => {
      const admin = ledgerAdmin(c.env);
      const head = await admin.head();
      // After the head: whatever key signed up to there is in this set.
      const jwks = await admin.jwks();
      const lines = exportLines(admin, { first: { ...jwks }, last: { head }, size: head.size });
      return c.body(streamOf(lines), 200, {
        "content-type": "application/x-ndjson",
        "cache-control": "no-store",
      });
    })
    .post("/api/ledger/rotate", ownerOnly, async (c) => c.json(await ledgerAdmin(c.env).rotate()));
}

async function ownerOnly(c: Context<AppEnv>, next: Next): Promise<Response | void> {
  if (c.get("principal").kind !== "owner") return refuse(c, unauthorized());
  return next();
}

/** Names the first bad filter, whether its value is wrong or no such filter exists. */
function refuseFilter(
  result: { success: boolean; error?: { issues: readonly z.core.$ZodIssue[] } },
  c: Context,
): Response | undefined {
  const issue = result.error?.issues[0];
  if (result.success || !issue) return undefined;
  const unknown = issue.code === "unrecognized_keys";
  const field = unknown ? (issue.keys[0] ?? "") : String(issue.path[0]);
  return refuse(c as Context<AppEnv>, {
    status: 400,
    error: "invalid_filter",
    hint: unknown
      ? `The filters are ${Object.keys(filters.shape).join(", ")}.`
      : `${field} ${issue.message}.`,
    members: { field },
  });
}

/** The log up to a head that was signed before the first line: what is appended meanwhile is left out. */
async function* exportLines(
  admin: LedgerAdmin,
  { first, last, size }: { first: object; last: object; size: number },
): AsyncGenerator<string> {
  yield `${JSON.stringify(first)}\n`;
  for (let afterSeq = 0; afterSeq < size;) {
    const page = await admin.exportPage({ afterSeq, lastSeq: size, limit: EXPORT_PAGE_EVENTS });
    if (page.length === 0) throw new Error(`the ledger has no event ${afterSeq + 1}`);
    yield page.map((line) => `${line}\n`).join("");
    afterSeq += page.length;
  }
  yield `${JSON.stringify(last)}\n`;
}

/** One page is read when the reader asks for it; a fault breaks the answer off, and no signed head follows. */
function streamOf(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await texts.return(undefined);
    },
  });
}
