import { z } from "zod";

/**
 * Every limit and switch of a deployment, each with the invariant it holds and its unit. Values come
 * as text (vars and secrets of the Worker); `parseConfig` reads them once and names each bad one.
 */
const text = z.string().trim();

function integer(fallback: number, min: number, max: number) {
  return text
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`)
    .default(fallback);
}

const zone = text.refine((value) => {
  try {
    new Intl.DateTimeFormat("en", { timeZone: value });
    return true;
  } catch {
    return false;
  }
}, "must be an IANA time zone such as Europe/Berlin");

const hostPort = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+):(\d{1,5})$/i;

const schema = z.object({
  /** Owner key. Without one nobody owns the deployment, so it refuses to serve. */
  TERMINAL_KEY: text.min(16, "must be at least 16 characters"),
  /** Opens the MCP surfaces only. */
  MCP_TOKEN: text.min(16, "must be at least 16 characters").optional(),
  /** Origin under which callers reach this deployment; empty: the origin of each request. */
  PUBLIC_URL: text
    .refine((value) => {
      try {
        const url = new URL(value);
        return /^https?:$/.test(url.protocol) && url.origin === value.replace(/\/$/, "");
      } catch {
        return false;
      }
    }, "must be an http(s) origin such as https://rowcall.example.com")
    .transform((value) => new URL(value).origin)
    .optional(),
  /** `public`: ask, key, registry, map and confirm need no credential. */
  DISCOVERY: z.enum(["public", "credentialed"], "must be public or credentialed").default("public"),
  /** Zone of `now` when the call names none. */
  TIME_ZONE: zone.default("America/Los_Angeles"),
  /** Whole time of one outbound request, headers and body, in milliseconds. */
  HTTP_TIMEOUT_MS: integer(30_000, 1, 300_000),
  /** Decoded bytes of an upstream's body that are kept; the rest is cut. */
  MAX_RESPONSE_BYTES: integer(1_048_576, 1, 16_777_216),
  /** Bytes of a request body that this deployment reads. */
  MAX_REQUEST_BYTES: integer(2_097_152, 1_024, 33_554_432),
  /** Exceptions to the refused private targets, exact `host:port`, comma-separated. For development. */
  ALLOW_PRIVATE_HOSTS: text
    .transform((value) =>
      value
        .split(",")
        .map((item) => item.trim().toLowerCase())
        .filter(Boolean),
    )
    .refine(
      (list) => list.every((item) => hostPort.test(item)),
      "must be host:port, comma-separated, such as 127.0.0.1:9093",
    )
    .default([]),
});

export type Config = Readonly<z.output<typeof schema>>;

/** Names that rowcall itself reads; no row may name one as a secret. */
export const CONFIG_NAMES: ReadonlySet<string> = new Set(Object.keys(schema.shape));

export class ConfigError extends Error {}

/** @throws ConfigError that names every bad value and its rule, never the value itself. */
export function parseConfig(vars: { [name: string]: unknown }): Config {
  const given = Object.fromEntries(
    [...CONFIG_NAMES]
      .map((name) => [name, vars[name]] as const)
      .filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = schema.safeParse(given);
  if (parsed.success) return Object.freeze(parsed.data);
  const faults = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return `${name} ${name in given ? issue.message : "is missing"}`;
  });
  throw new ConfigError(`configuration refused: ${faults.join("; ")}`);
}
