import { createHash, timingSafeEqual } from "node:crypto";
import type { Config } from "../core/config.ts";
import { ANONYMOUS, OWNER, type Principal } from "../core/principal.ts";

/**
 * Who a request says it is. The owner key comes as `x-terminal-key` or as a bearer. A credential that is
 * wrong is no credential: discovery stays open to it, everything else answers 401.
 */
export function principalOf(headers: Headers, config: Config): Principal {
  const given = [headers.get("x-terminal-key"), bearerOf(headers.get("authorization"))];
  const isOwner = given.some((key) => key !== null && equals(key, config.TERMINAL_KEY));
  return isOwner ? OWNER : ANONYMOUS;
}

function bearerOf(authorization: string | null): string | null {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? null;
}

/** Compares digests of equal length, so that the time taken tells nothing of the key or its length. */
function equals(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
