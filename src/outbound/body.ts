import { Buffer } from "node:buffer";
import { memo } from "../core/memo.ts";
import type { Deadline } from "./deadline.ts";

export interface Body {
  text: string;
  truncated: boolean;
}

/**
 * Reads a body as text, at most `maxBytes` after decompression. What is over is never buffered: the reader
 * is cancelled, which closes the connection.
 */
export async function readBody(
  response: Response,
  maxBytes: number,
  deadline: Deadline,
): Promise<Body> {
  const { bytes, truncated } = await readBytes(response, maxBytes, deadline);
  const contentType = response.headers.get("content-type") ?? "";
  return { text: textOf(bytes, contentType, truncated), truncated };
}

async function readBytes(
  response: Response,
  maxBytes: number,
  deadline: Deadline,
): Promise<{ bytes: Uint8Array; truncated: boolean }> {
  if (response.body === null) return { bytes: new Uint8Array(), truncated: false };
  if (isSurelyShort(response.headers, maxBytes)) {
    const bytes = new Uint8Array(await deadline.within(response.arrayBuffer()));
    return { bytes, truncated: false };
  }
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let kept = 0;
  try {
    for (;;) {
      const { done, value } = await deadline.within(reader.read());
      if (done) return { bytes: Buffer.concat(chunks), truncated: false };
      const room = maxBytes - kept;
      if (value.byteLength > room) {
        chunks.push(value.subarray(0, room));
        cancel(reader, "the rest is not wanted");
        return { bytes: Buffer.concat(chunks), truncated: true };
      }
      chunks.push(value);
      kept += value.byteLength;
    }
  } catch (error) {
    cancel(reader, error);
    throw error;
  }
}

/**
 * Content-Length is what the runtime ends the body by, so it binds unless the body is compressed: then it
 * counts other bytes than those that are read.
 */
function isSurelyShort(headers: Headers, maxBytes: number): boolean {
  const declared = headers.get("content-length");
  if (declared === null || !/^\d{1,15}$/.test(declared)) return false;
  return Number(declared) <= maxBytes && !headers.has("content-encoding");
}

/** Not awaited: an upstream that stalls must not hold the answer; a reader already in error rejects. */
export function cancel(
  stream: { cancel(reason?: unknown): Promise<void> } | null,
  reason: unknown,
): void {
  stream?.cancel(reason).catch(() => undefined);
}

/** Words of a media type's subtype under which text is kept as text: `svg+xml`, `vnd.api+json`, `x-www-form-urlencoded`. */
const TEXT_WORDS: ReadonlySet<string> = new Set([
  "json",
  "ndjson",
  "jsonl",
  "json5",
  "xml",
  "javascript",
  "ecmascript",
  "yaml",
  "svg",
  "urlencoded",
  "graphql",
  "toml",
  "sql",
]);

/** SPEC §5: text in its charset, anything else as `base64:<media type>:<data>`. */
function textOf(bytes: Uint8Array, contentType: string, cut: boolean): string {
  if (bytes.byteLength === 0) return "";
  const media = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (media === "") {
    const text = bytes.includes(0) ? null : decode(bytes, "utf-8", { fatal: true, cut });
    return text ?? base64(bytes, "application/octet-stream");
  }
  if (!isText(media)) return base64(bytes, media);
  const charset = /charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1] ?? "utf-8";
  return (
    decode(bytes, charset, { fatal: false, cut }) ??
    decode(bytes, "utf-8", { fatal: false, cut }) ??
    ""
  );
}

function isText(media: string): boolean {
  const [type = "", subtype = ""] = media.split("/", 2);
  if (type === "text") return true;
  return (
    (type === "application" || type === "image") &&
    subtype.split(/[.+-]/).some((word) => TEXT_WORDS.has(word))
  );
}

/** Null for an unknown charset, or with `fatal` for bytes that are not in it. A code point split by a cut is left out. */
function decode(
  bytes: Uint8Array,
  charset: string,
  how: { fatal: boolean; cut: boolean },
): string | null {
  try {
    // A decoder that is asked for a stream keeps what it has not finished: it serves one body.
    const decoder = how.cut ? makeDecoder(charset, how.fatal) : knownDecoder(charset, how.fatal);
    return decoder.decode(bytes, { stream: how.cut });
  } catch {
    return null;
  }
}

function makeDecoder(charset: string, fatal: boolean): TextDecoder {
  return new TextDecoder(charset, { fatal, ignoreBOM: false });
}

const fatalDecoders = memo((charset: string) => makeDecoder(charset, true), 16);
const lenientDecoders = memo((charset: string) => makeDecoder(charset, false), 16);

function knownDecoder(charset: string, fatal: boolean): TextDecoder {
  return (fatal ? fatalDecoders : lenientDecoders)(charset);
}

function base64(bytes: Uint8Array, media: string): string {
  return `base64:${media}:${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")}`;
}
