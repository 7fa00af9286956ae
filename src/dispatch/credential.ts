import { parseAuth } from "../core/auth.ts";
import type { Capability, Claim, Credential } from "../core/call.ts";
import { sha256Hex } from "../core/canonical.ts";
import type { Ports } from "./ports.ts";

const NONE: Credential = { auth: null, error: null, secrets: [], digest: "" };

/**
 * What the row's auth column comes to here: its secrets, where they may go, and what stands against
 * using them. The values stay inside the returned object, which only `outbound/` reads.
 */
export async function readCredential(ports: Ports, capability: Capability): Promise<Credential> {
  const { row, fresh } = capability;
  if (!row.auth || row.type !== "http") return NONE;
  const fail = (reason: string): Credential => ({
    ...NONE,
    error: `ERR:http:${row.key}:ERR:auth:${reason}`,
  });

  const parsed = parseAuth(row.auth);
  if (!parsed.ok) return fail(parsed.reason);
  const reserved = parsed.names.find((name) => ports.secrets.reserved(name));
  if (reserved !== undefined) return fail(`reserved_name:${reserved}`);

  const secrets = await Promise.all(
    parsed.names.map(async (name) => ({
      name,
      value: ports.secrets.value(name),
      ...(await ports.secrets.binding(name, { fresh })),
    })),
  );
  const values = secrets.map(({ name, value }) => [name, value]);
  return {
    auth: parsed.auth,
    error: null,
    secrets,
    digest: sha256Hex(JSON.stringify([row.auth, values])),
  };
}

/** The host bindings a credential was read with, in the form that the ledger checks. */
export function credentialClaims(credential: Credential): Claim[] {
  return credential.secrets.map(({ name, version }) => ({ key: `secret:${name}`, version }));
}
