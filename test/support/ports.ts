import { inject } from "vitest";
import type { Auth } from "../../src/core/auth.ts";
import type { Credential } from "../../src/core/call.ts";
import { parseConfig } from "../../src/core/config.ts";
import type { SendPorts } from "../../src/outbound/send.ts";

export interface TestPorts extends SendPorts {
  /** Milliseconds that were slept, in order. */
  slept: number[];
}

/** The real network and clock, with limits as given; loopback is open for the upstream and `allow`. */
export function makePorts(vars: Record<string, string> = {}, allow: string[] = []): TestPorts {
  const slept: number[] = [];
  return {
    slept,
    config: parseConfig({
      TERMINAL_KEY: "owner-key-of-the-test-deployment",
      ALLOW_PRIVATE_HOSTS: [inject("upstream"), ...allow]
        .map((origin) => new URL(origin).host)
        .join(","),
      ...vars,
    }),
    clock: {
      now: () => Date.now(),
      sleep: async (ms) => {
        slept.push(ms);
        await new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20)));
      },
    },
    fetch: (request) => fetch(request),
  };
}

export const NO_CREDENTIAL: Credential = { auth: null, error: null, secrets: [], digest: "" };

/** A credential whose one secret has a value (null: absent) and may go to `hosts`. */
export function credentialOf(
  auth: Auth,
  name: string,
  value: string | null,
  hosts: string[],
): Credential {
  return { auth, error: null, secrets: [{ name, value, hosts, version: 1 }], digest: "d" };
}
