import type { Json } from "./json.ts";

/**
 * A refusal: nothing ran and nothing changed. `error` is the literal a caller matches on, `hint` says
 * in plain words what to do; `members` are further members of the answer.
 */
export interface Refusal {
  status: 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 415 | 422 | 429 | 503;
  error: string;
  hint: string;
  members?: { [name: string]: Json };
  headers?: { [name: string]: string };
}

/** What a refused management call says: the literal and what belongs to it. */
export function refusalBody({ error, members, hint }: Refusal): { [name: string]: Json } {
  return { error, ...members, ...(hint ? { hint } : {}) };
}

/** One broken rule of a value, in the words of JSON Schema. `path` is an RFC 6901 pointer. */
export interface Issue {
  path: string;
  message: string;
  keyword: string;
}

export function unauthorized(): Refusal {
  return {
    status: 401,
    error: "unauthorized",
    hint: "Send the owner key as x-terminal-key or as Authorization: Bearer.",
  };
}

export function unknownKey(attempted: string, didYouMean: string[]): Refusal {
  return {
    status: 404,
    error: "unknown_key",
    hint: "Take a key of did_you_mean, or ask in plain words with ?ask=.",
    members: { attempted, did_you_mean: didYouMean },
  };
}

export function invalidArguments(issues: Issue[], contract: string): Refusal {
  return {
    status: 422,
    error: "invalid_arguments",
    hint: "Mend the members named in issues; the contract shows the schema.",
    members: { issues: issues.map((issue) => ({ ...issue })), contract },
  };
}
