import { parseAuth } from "./auth.ts";
import { parseFlow } from "./flow.ts";
import type { Grammars } from "./hygiene.ts";
import { parseTarget } from "./request.ts";
import { checkSchema } from "./schema.ts";

/** A grant that is kept in a secret. Rows may name one before this deployment can spend it. */
const OAUTH = /^oauth:([A-Za-z_][A-Za-z0-9_]{0,127})$/;

/** The program's own readers, so that what is refused at write is what would fail at run. */
export function makeGrammars(reserved: (name: string) => boolean): Grammars {
  return {
    schema: checkSchema,
    target(target) {
      const parsed = parseTarget(target);
      return parsed.ok ? null : parsed.reason;
    },
    flow(payload) {
      const parsed = parseFlow(payload);
      return parsed.ok ? null : parsed.error;
    },
    auth(auth) {
      const grant = OAUTH.exec(auth.trim())?.[1];
      const parsed = grant === undefined ? parseAuth(auth) : { ok: true as const, names: [grant] };
      if (!parsed.ok) return parsed.reason;
      const taken = parsed.names.find(reserved);
      return taken === undefined ? null : `reserved_name:${taken}`;
    },
  };
}
