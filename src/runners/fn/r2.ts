import { createHash } from "node:crypto";
import { boundedText, defineFn, optional, storeKey, text, type FnEntry } from "./entry.ts";

/** R2 takes names up to 1,024 bytes. The prefix keeps rows away from the ledger's bytes in the same bucket. */
const PREFIX = "user/";
const key = storeKey(PREFIX, 1_024);
const MAX_BODY_BYTES = 1_048_576;
const DEFAULT_TYPE = "text/plain; charset=utf-8";

const NOT_CONFIGURED = "ERR:fn:not_configured:BLOBS";

const r2Get = defineFn({
  name: "r2_get",
  summary: "The object stored under a key, or null; bytes that are no text come as base64.",
  operation: "read",
  parameters: { key },
  async handler({ ports }, args) {
    if (!ports.stores.r2) return NOT_CONFIGURED;
    const object = await readObject(ports.stores.r2, args.key);
    if (!object) return null;
    const cut = object.size > MAX_BODY_BYTES;
    const type = object.httpMetadata?.contentType ?? "application/octet-stream";
    const sha256 = object.checksums.toJSON().sha256 ?? null;
    const body = bodyText(new Uint8Array(await object.arrayBuffer()), type, cut);
    return { body, type, size: object.size, sha256, ...(cut && { truncated: true }) };
  },
});

const r2Put = defineFn({
  name: "r2_put",
  summary: "Stores text as an object under a key.",
  operation: "write",
  parameters: {
    key,
    body: boundedText(MAX_BODY_BYTES),
    type: optional(
      text.refine((value) => MEDIA_TYPE.test(value), "must be a media type such as text/csv"),
    ),
  },
  async handler({ ports }, args) {
    if (!ports.stores.r2) return NOT_CONFIGURED;
    const bytes = Buffer.from(args.body);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    await ports.stores.r2.put(args.key, bytes, {
      sha256,
      httpMetadata: { contentType: args.type ?? DEFAULT_TYPE },
    });
    return { key: args.key.slice(PREFIX.length), size: bytes.length, sha256 };
  },
});

const MEDIA_TYPE = /^[\w.+-]{1,127}\/[\w.+-]{1,127}(?:;[\x20-\x7e]{0,255})?$/;

/** The object with at most the first MAX_BODY_BYTES of its body; R2 takes no range of an empty one. */
async function readObject(bucket: R2Bucket, key: string): Promise<R2ObjectBody | null> {
  const head = await bucket.head(key);
  if (!head) return null;
  const isLarge = head.size > MAX_BODY_BYTES;
  return bucket.get(key, isLarge ? { range: { offset: 0, length: MAX_BODY_BYTES } } : {});
}

/** `stream` leaves out a code point that the cut has split. */
function bodyText(bytes: Uint8Array, type: string, cut: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, {
      stream: cut,
    });
  } catch {
    // Not UTF-8: the form in which a binary http body comes, too.
    return `base64:${type}:${Buffer.from(bytes).toString("base64")}`;
  }
}

export const r2Functions: readonly FnEntry[] = [r2Get, r2Put];
