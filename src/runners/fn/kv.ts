import { z } from "zod";
import { boundedText, defineFn, optional, storeKey, type FnEntry } from "./entry.ts";

/** KV takes names up to 512 bytes. The prefix keeps a row away from every other use of the namespace. */
const key = storeKey("user:", 512);
const MAX_VALUE_BYTES = 1_048_576;
/** KV refuses a shorter life. */
const MIN_TTL_SECONDS = 60;
const MAX_TTL_SECONDS = 10 * 365 * 86_400;

const ttl = z.coerce
  .number({ error: "must be a number of seconds" })
  .refine(Number.isInteger, "must be a whole number of seconds")
  .refine((value) => value >= MIN_TTL_SECONDS, `must be at least ${MIN_TTL_SECONDS} seconds`)
  .refine((value) => value <= MAX_TTL_SECONDS, `must be at most ${MAX_TTL_SECONDS} seconds`);

const kvGet = defineFn({
  name: "kv_get",
  summary: "The text stored under a key, or null.",
  operation: "read",
  parameters: { key },
  handler: ({ ports }, args) => ports.stores.kv.get(args.key),
});

const kvPut = defineFn({
  name: "kv_put",
  summary: "Stores text under a key, for good or for a number of seconds.",
  operation: "write",
  parameters: { key, value: boundedText(MAX_VALUE_BYTES), ttl: optional(ttl) },
  async handler({ ports }, args) {
    await ports.stores.kv.put(
      args.key,
      args.value,
      args.ttl === undefined ? {} : { expirationTtl: args.ttl },
    );
    return { ok: true };
  },
});

const kvDelete = defineFn({
  name: "kv_delete",
  summary: "Removes a key; removing what is not there is fine.",
  operation: "write",
  parameters: { key },
  async handler({ ports }, args) {
    await ports.stores.kv.delete(args.key);
    return { ok: true };
  },
});

export const kvFunctions: readonly FnEntry[] = [kvGet, kvPut, kvDelete];
