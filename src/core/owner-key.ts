import { timingSafeEqual } from "node:crypto";
import type { Config } from "./config.ts";
import { ANONYMOUS, OWNER, type Principal } from "./principal.ts";

const encoder = new TextEncoder();

/**
 * Who a request says it is. The owner key comes as `x-terminal-key` or as a bearer. A credential that is
 * wrong is no credential: discovery stays open to it, everything else answers 401.
 */
export function makePrincipalOf(config: Config): (headers: Headers) => Principal {
  const owner = encoder.encode(config.TERMINAL_KEY);
  // A key of another length is compared all the same, so that the time taken tells only the length.
  const isOwner = (key: string | null): boolean => {
    if (key === null) return false;
    const given = encoder.encode(key);
    const isSameLength = given.length === owner.length;
    return timingSafeEqual(isSameLength ? given : owner, owner) && isSameLength;
  };
  return (headers) =>
    isOwner(headers.get("x-terminal-key")) || isOwner(bearerOf(headers.get("authorization")))
      ? OWNER
      : ANONYMOUS;
}

function bearerOf(authorization: string | null): string | null {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? null;
}
