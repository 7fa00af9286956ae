import { makeBreakerMemory } from "./dispatch/breaker.ts";
import { makeDispatch, type Dispatch } from "./dispatch/dispatch.ts";
import type { Clock, Ids, InnerCaller, Ports } from "./dispatch/ports.ts";
import { parseConfig } from "./core/config.ts";
import { makePrincipalOf } from "./core/owner-key.ts";
import type { Principal } from "./core/principal.ts";
import { fingerprintOf } from "./core/fingerprint.ts";
import { stepKeys } from "./core/flow.ts";
import { makeGrammars } from "./core/grammars.ts";
import { violations } from "./core/hygiene.ts";
import { ledgerAdmin, ledgerPort, SHARD } from "./objects/stubs.ts";
import { makeAsk, type Ask } from "./resolver/ask.ts";
import { indexStatements } from "./resolver/index-row.ts";
import { runnerOf } from "./runners/by-type.ts";
import { fnOperation } from "./runners/fn.ts";
import { blobStore } from "./store/blobs.ts";
import { makeCapabilities } from "./store/capabilities.ts";
import { makeDirectory, type Directory } from "./store/directory.ts";
import { makeSecretBindings, type SecretBindings } from "./store/secret-bindings.ts";
import { makeSecrets } from "./store/secrets.ts";

/** Everything that one isolate serves with; built once for its environment. */
export interface Runtime {
  ports: Ports;
  dispatch: Dispatch;
  directory: Directory;
  secretBindings: SecretBindings;
  ask: Ask;
  /** Who a request from outside says it is, by its headers. */
  principalOf(headers: Headers): Principal;
  /** Who made a request from inside; undefined for one that came over the network. */
  innerCallerOf(request: Request): InnerCaller | undefined;
}

/** @throws ConfigError when a variable of the environment is refused. */
export type RuntimeOf = (env: Env) => Runtime;

/** How a request made by a row of this deployment reaches its own routes. */
export type OwnFetch = (request: Request, env: Env) => Response | Promise<Response>;

/** The composition root: the only place that knows every adapter. */
export function makeRuntimeOf(ownFetch: OwnFetch): RuntimeOf {
  const runtimes = new WeakMap<Env, Runtime>();
  return (env) => {
    const known = runtimes.get(env);
    if (known) return known;
    const runtime = makeRuntime(env, ownFetch);
    runtimes.set(env, runtime);
    return runtime;
  };
}

function makeRuntime(env: Env, ownFetch: OwnFetch): Runtime {
  const config = parseConfig({ ...env });
  const secrets = makeSecrets(env, env.DB, clock);
  const capabilities = makeCapabilities(env.DB, { clock, stepKeys, fnOperation, fingerprintOf });
  const log = ledgerAdmin(env);
  const grammars = makeGrammars(secrets.reserved);
  const directory = makeDirectory({
    db: env.DB,
    log,
    clock,
    ids,
    violations: (row) => violations(row, grammars),
    index: (key, row) => indexStatements(env.DB, key, row),
    contractOf: capabilities.contractOf,
  });

  // The key is the request object itself: nothing that comes over the network can claim to be inside.
  const innerCallers = new WeakMap<Request, InnerCaller>();
  const ports: Ports = {
    config,
    clock,
    ids,
    capabilities,
    secrets,
    ledger: ledgerPort(env),
    breakers: makeBreakerMemory(),
    blobs: blobStore(env.BLOBS),
    fetch: (request) => fetch(request),
    self: {
      fetch: async (request, caller) => {
        innerCallers.set(request, caller);
        return ownFetch(request, env);
      },
    },
    stores: { db: env.DB, kv: env.KV, r2: env.BLOBS, directory },
  };
  return {
    ports,
    dispatch: makeDispatch(ports, runnerOf),
    directory,
    secretBindings: makeSecretBindings({ db: env.DB, log, clock, ids, secrets }),
    ask: makeAsk(env.DB),
    principalOf: makePrincipalOf(config),
    innerCallerOf: (request) => innerCallers.get(request),
  };
}

const clock: Clock = {
  now: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

const ids: Ids = {
  invocation: () => `inv_${SHARD}_${newName()}`,
  event: () => `evt_${SHARD}_${newName()}`,
  trace: () => `t_${newName()}`,
};

const LETTERS = "0123456789abcdefghjkmnpqrstvwxyz";
const RANDOM_LETTERS = 12;
const TIME_LETTERS = 6;

/** Fetched for many names at once: each call of the generator has a price. */
const pool = new Uint8Array(64 * RANDOM_LETTERS);
let unused = 0;

/**
 * The second of its making in 30 bits and 60 random bits, as letters that nobody confuses. Names made one
 * after the other stand side by side in an index, which then has few pages to write.
 */
function newName(): string {
  let seconds = Math.floor(Date.now() / 1_000);
  let name = "";
  for (let letter = 0; letter < TIME_LETTERS; letter++) {
    name = LETTERS[seconds & 31]! + name;
    seconds = Math.floor(seconds / 32);
  }
  if (unused === 0) unused = crypto.getRandomValues(pool).length;
  for (const byte of pool.subarray(unused - RANDOM_LETTERS, unused)) name += LETTERS[byte & 31];
  unused -= RANDOM_LETTERS;
  return name;
}
