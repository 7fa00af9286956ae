import { Hono, type Context } from "hono";
import type { Capability } from "../core/call.ts";
import { contractMarkdown } from "../core/contract-markdown.ts";
import { contractOf, type Contract } from "../core/contract.ts";
import { parseDocstring } from "../core/docstring.ts";
import { unauthorized, unknownKey, type Refusal } from "../core/failure.ts";
import { brief, shownTo } from "../core/public-text.ts";
import { MAX_LIST_LIMIT } from "../core/row-input.ts";
import type { Row } from "../core/row.ts";
import { PROTOCOL } from "../core/version.ts";
import type { AppEnv } from "./app-env.ts";
import { refuseDispatch } from "./respond.ts";

type RouteContext = Context<AppEnv>;
type Verb = (c: RouteContext, value: string) => Promise<Response>;

/** Characters of a WHAT in a list, and of the inputs in the best answer. */
const BRIEF = 80;
const BRIEF_INPUTS = 240;

const VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ["ask", askVerb],
  ["key", keyVerb],
  ["registry", registryVerb],
  ["map", mapVerb],
]);

/**
 * How a model finds and reads a capability (SPEC §3): the GET verbs that run nothing. Other verbs of the
 * same address stand in front of these routes and pass on what is not theirs.
 */
export function discoveryRoutes(): Hono<AppEnv> {
  return new Hono<AppEnv>().get("/api/dispatch", async (c) => {
    c.header("cache-control", "no-store");
    c.header("vary", "authorization, x-terminal-key");
    const given = Object.keys(c.req.query());
    if (given.length === 0) return c.json(manifest(c.get("origin")));
    const name = [...VERBS.keys()].find((verb) => given.includes(verb));
    if (name === undefined) return refuseDispatch(c, unknownVerb(given));
    if (isClosed(c)) return refuseDispatch(c, unauthorized());
    return VERBS.get(name)!(c, c.req.query(name) ?? "");
  });
}

/** DISCOVERY=credentialed shows the catalogue to any credential and to nobody else (SPEC §9). */
function isClosed(c: RouteContext): boolean {
  return (
    c.get("ports").config.DISCOVERY === "credentialed" && c.get("principal").kind === "anonymous"
  );
}

function manifest(origin: string): object {
  return {
    ...PROTOCOL,
    kind: "manifest",
    what: "A directory of capabilities. Four steps: ask in plain words, read the contract of the row you choose, invoke it, keep the receipt.",
    endpoint: `${origin}/api/dispatch`,
    credential:
      "x-terminal-key or Authorization: Bearer; to ask, key, registry, map and confirm it is optional",
    get: {
      ask: "?ask=<plain words>[&full=1] ranked rows; full adds the best one's contract",
      key: "?key=K[&format=markdown] the contract of a row",
      registry: "?registry=1[&category=C][&limit=N][&cursor=X] all rows, paged",
      map: "?map=1 categories with counts",
      receipt: "?receipt=ID the whole receipt",
      confirm: "?confirm=ID public proof that a call ran",
      replay: "?replay=ID what a replay would run",
      output: "?output=ID[&offset=N] the stored output, paged",
    },
    post: {
      key: "the row to run",
      body: "its input as one text, pieces split at |",
      args: "named arguments (an object), instead of body",
      shape: "true: show what would be sent, fire nothing",
      as: '"json": the result as a JSON value',
      select: "[JSON pointers]: only these parts of the result",
      max_result: "bytes of the result to return; more pages through the rest",
      repairs: "inv_…: this call corrects that one",
      replay: "inv_…: run that call again, without key; force: true although its contract changed",
    },
    answer:
      "{ok, ran, key, trace, result, invocation:{id}, proof}; refused: {error, ran:false, hint}",
  };
}

function unknownVerb(given: string[]): Refusal {
  const verbs = [...VERBS.keys(), "receipt", "confirm", "replay", "output"];
  return {
    status: 400,
    error: "unknown_verb",
    hint: `Name one of ${verbs.join(", ")}. GET /api/dispatch without parameters explains them.`,
    members: { attempted: given.slice(0, 10).map((name) => name.slice(0, 64)) },
  };
}

async function askVerb(c: RouteContext, text: string): Promise<Response> {
  if (text.trim() === "") {
    return refuseDispatch(c, {
      status: 400,
      error: "blank_question",
      hint: "Say in plain words what should happen, such as ?ask=what time is it in Tokyo.",
    });
  }
  const answer = await c.get("ask")(text);
  const capability = answer.best && (await findEnabled(c, answer.best.key));
  const contract = capability && contractFor(c, capability);
  return c.json({
    ...PROTOCOL,
    kind: "ask",
    question: answer.question,
    count: answer.candidates.length,
    best:
      contract && capability ? bestOf(capability.row.key, contract, answer.best!.confidence) : null,
    candidates: answer.candidates.map(({ row, score }) => ({
      key: row.key,
      what: whatOf(c, row),
      score,
    })),
    ...(answer.hint && { hint: answer.hint }),
    ...(contract && isSet(c, "full") && { contract }),
  });
}

function bestOf(key: string, contract: Contract, confidence: number): object {
  return {
    key,
    what: contract.what,
    args: brief(contract.inputs.join(" "), BRIEF_INPUTS),
    example: contract.example,
    run_now: contract.run_now,
    do: `Send run_now with your own body and your credential; ?key=${key} is the whole contract.`,
    confidence,
  };
}

async function keyVerb(c: RouteContext, key: string): Promise<Response> {
  const capability = await findEnabled(c, key);
  if (!capability) {
    const attempted = key.slice(0, 256);
    return refuseDispatch(
      c,
      unknownKey(attempted, await c.get("ports").capabilities.near(attempted)),
    );
  }
  const contract = contractFor(c, capability);
  if (c.req.query("format") !== "markdown") return c.json(contract);
  return c.body(contractMarkdown(contract), 200, {
    "content-type": "text/markdown; charset=utf-8",
    "x-content-type-options": "nosniff",
  });
}

async function registryVerb(c: RouteContext): Promise<Response> {
  const given = c.req.query("limit");
  const limit = given === undefined ? undefined : Number(/^\d{1,4}$/.exec(given)?.[0]);
  if (limit !== undefined && !(limit >= 1 && limit <= MAX_LIST_LIMIT)) {
    const hint = `limit must be a whole number from 1 to ${MAX_LIST_LIMIT}.`;
    return refuseDispatch(c, { status: 400, error: "invalid_limit", hint });
  }
  const filter = { category: c.req.query("category"), limit, cursor: c.req.query("cursor") };
  const page = await c.get("directory").registry(filter);
  if (!page.ok) return refuseDispatch(c, page.refusal);
  return c.json({
    ...PROTOCOL,
    kind: "registry",
    count: page.count,
    rows: page.rows.map((row) => ({
      key: row.key,
      type: row.type,
      category: row.category,
      what: whatOf(c, row),
    })),
    ...(page.cursor !== null && { cursor: page.cursor }),
  });
}

async function mapVerb(c: RouteContext): Promise<Response> {
  const { total, categories } = await c.get("directory").map();
  return c.json({ ...PROTOCOL, kind: "map", total, categories });
}

/** Read from D1 during the request, so that a contract is never an old one. A disabled row is unknown. */
async function findEnabled(c: RouteContext, key: string): Promise<Capability | null> {
  const capability = await c.get("ports").capabilities.resolve(key, { fresh: true });
  return capability?.row.enabled ? capability : null;
}

function contractFor(c: RouteContext, capability: Capability): Contract {
  return contractOf({ capability, principal: c.get("principal"), origin: c.get("origin") });
}

function whatOf(c: RouteContext, row: Pick<Row, "target" | "auth" | "content">): string {
  return brief(shownTo(c.get("principal"), row)(parseDocstring(row.content).what), BRIEF);
}

function isSet(c: RouteContext, name: string): boolean {
  const value = c.req.query(name);
  return value !== undefined && value !== "" && value !== "0" && value !== "false";
}
