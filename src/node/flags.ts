import { parseArgs } from "node:util";

/** What the command line of `npm start` asks for. */
export interface Flags {
  help: boolean;
  vars: { [name: string]: string };
  envFiles: string[];
  /** Undefined: PORT of the environment, else 8787. */
  port: number | undefined;
}

export const USAGE = `npm start -- [--port N] [--var NAME:VALUE] [--env-file FILE]

  --port N            port on 127.0.0.1 (else PORT, else 8787; 0 takes a free one)
  --var NAME:VALUE    a setting or a secret; split at the first colon; may repeat
  --env-file FILE     settings and secrets as NAME=VALUE lines; may repeat
  --help              this text

Flags win over files, files over .dev.vars, .dev.vars over wrangler.jsonc.
PERSIST_TO=<dir> keeps the state there instead of .rowcall/state.
`;

export class UsageError extends Error {}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** @throws UsageError that names the argument at fault. */
export function parseFlags(argv: string[]): Flags {
  const { values } = parsed(argv[0] === "--" ? argv.slice(1) : argv);
  return {
    help: values.help ?? false,
    vars: Object.fromEntries((values.var ?? []).map(parseVar)),
    envFiles: values["env-file"] ?? [],
    port: values.port === undefined ? undefined : parsePort(values.port, "--port"),
  };
}

function parsed(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      allowPositionals: false,
      options: {
        help: { type: "boolean", short: "h" },
        var: { type: "string", multiple: true },
        "env-file": { type: "string", multiple: true },
        port: { type: "string" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function parseVar(text: string): [string, string] {
  const colon = text.indexOf(":");
  const name = text.slice(0, Math.max(colon, 0));
  // The text may be a secret, so no message repeats it.
  if (!NAME.test(name))
    throw new UsageError("--var wants NAME:VALUE, such as TIME_ZONE:Europe/Berlin");
  return [name, text.slice(colon + 1)];
}

export function parsePort(text: string, source: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port <= 65_535)) throw new UsageError(`${source} must be a whole number from 0 to 65535`);
  return port;
}
