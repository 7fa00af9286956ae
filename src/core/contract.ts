import type { Capability } from "./call.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import type { Principal } from "./principal.ts";
import { shownTo, type ShowText } from "./public-text.ts";
import type { RowType } from "./row.ts";
import { countSlots, parseTemplate } from "./template.ts";

/** A move that the present caller can make, and what to send for it. */
export interface Affordance {
  move: string;
  send: string;
}

export interface Trouble {
  problem: string;
  action: string;
  address: string;
}

/** The contract of a row (SPEC §6), for a reader who knows nothing of this system. */
export interface Contract {
  path: string;
  what: string;
  when_to_use: string;
  /** One request line that fires the example. */
  run_now: string;
  example: string;
  type: RowType;
  runner: string;
  auth: string;
  risk: "high" | "low";
  inputs: string[];
  input_schema: Json;
  outputs: string;
  affordances: Affordance[];
  machine_contract: string[];
  links: { [name: string]: string };
  troubleshooting: Trouble[];
  /** The fingerprint: another one means that the row is another contract. */
  contract: string;
}

export interface ContractInput {
  capability: Capability;
  principal: Principal;
  /** Origin of this deployment, without a trailing slash. */
  origin: string;
}

export function contractOf({ capability, principal, origin }: ContractInput): Contract {
  const { row, doc } = capability;
  const show = shownTo(principal, row);
  const body = show(exampleBody(capability));
  const runNow = runLine(origin, row.key, body);
  return {
    path: `OIP > ${show(row.category || "uncategorized").toUpperCase()} > ${row.key}`,
    what: show(doc.what),
    when_to_use: show(doc.whenToUse),
    run_now: runNow,
    example: `[${row.key}]${body}[/${row.key}]`,
    type: row.type,
    runner: row.runner || row.type,
    auth: authFor(principal, row.auth),
    risk: row.sensitive ? "high" : "low",
    inputs: inputsOf(capability, show),
    input_schema: schemaFor(capability, show),
    outputs: outputsOf(show(doc.output), row.type),
    affordances: affordancesFor(principal, row.key),
    machine_contract: [...MACHINE_CONTRACT],
    links: linksOf(row.key),
    troubleshooting: TROUBLES.map((trouble) => ({ ...trouble })),
    contract: capability.fingerprint,
  };
}

const RESULTS: Record<RowType, string> = {
  fn: "`result` is a JSON value.",
  http: "`result` is `HTTP 200:` and the body.",
  agent: "`result` is the final text.",
  flow: "`result` is the last step's output.",
};

function outputsOf(output: string, type: RowType): string {
  if (output === "") return RESULTS[type];
  return `${output}${/[.!?]$/.test(output) ? "" : "."} ${RESULTS[type]}`;
}

const MACHINE_CONTRACT: readonly string[] = [
  "Do not infer this row's shape from memory; send exactly the fields of Inputs.",
  "The answer is JSON {ok, ran, result, invocation:{id}, proof}.",
  "`ran:true, ok:false`: it ran and failed; `result` begins with ERR: and says why.",
  "`ran:false`: refused, nothing ran; read `error` and `hint`.",
  "Return the receipt, `invocation.id`, with what you report.",
];

const TROUBLES: readonly Trouble[] = [
  {
    problem: "401 unauthorized",
    action: "send a credential",
    address: "x-terminal-key or Authorization: Bearer",
  },
  { problem: "404 unknown_key", action: "ask in plain words", address: "/api/dispatch?ask=" },
  { problem: "422 invalid_arguments", action: "mend what issues names", address: "/api/dispatch" },
  { problem: "result ERR:", action: "read why, then repair", address: "/api/dispatch" },
];

function runLine(origin: string, key: string, body: string): string {
  return `POST ${origin}/api/dispatch ${JSON.stringify({ key, body })}`;
}

/** Relative to the origin that `run_now` shows; `<id>` is the answer's invocation.id. */
function linksOf(key: string): Contract["links"] {
  return {
    invoke: "POST /api/dispatch",
    receipt: "GET /receipt/<id>",
    confirm: "GET /api/dispatch?confirm=<id>",
    ledger: "GET /api/dispatch?receipt=<id>",
    repair: `POST /api/dispatch {"key":"${key}","body":"…","repairs":"<id>"}`,
  };
}

function affordancesFor(principal: Principal, key: string): Affordance[] {
  switch (principal.kind) {
    case "anonymous":
      return [
        { move: "read", send: `GET /api/dispatch?key=${key}` },
        { move: "ask for another row", send: "GET /api/dispatch?ask=<plain words>" },
        { move: "get a credential", send: "ask the owner; without one a call is 401" },
      ];
    case "owner":
      return [
        { move: "invoke", send: "the line of Run now" },
        {
          move: "shape (show the request, fire nothing)",
          send: `POST {"key":"${key}","body":"…","shape":true}`,
        },
        { move: "replay", send: 'POST {"replay":"<id>"}' },
        { move: "edit", send: `PATCH /api/directory/${key}` },
        { move: "history", send: `GET /api/directory/${key}/versions` },
      ];
  }
}

/** A stranger learns only whether the row uses a credential of its own, never which. */
function authFor(principal: Principal, auth: string | null): string {
  if (!auth?.trim()) return "none";
  return principal.kind === "anonymous" ? "required" : auth;
}

/** First EX, else the first of `examples`, else empty; without the tags that name the key. */
function exampleBody({ row, doc }: Capability): string {
  const example = (doc.examples[0] ?? firstExample(row.examples) ?? "").trim();
  const close = `[/${row.key}]`;
  const open = `[${row.key}]`;
  const isTagged =
    example.startsWith(open) &&
    example.endsWith(close) &&
    example.length >= open.length + close.length;
  return isTagged ? example.slice(open.length, -close.length) : example;
}

function firstExample(json: string | null): string | null {
  try {
    const list: unknown = JSON.parse(json ?? "null");
    const first: unknown = Array.isArray(list) ? list[0] : null;
    return typeof first === "string" ? first : null;
  } catch {
    // A column that is no JSON holds no example.
    return null;
  }
}

/** One line on how to send it, then what the author and the schema say of each field. */
function inputsOf(capability: Capability, show: ShowText): string[] {
  const { doc, schema } = capability;
  const fields = schema ? fieldsOf(schema) : [];
  const lines = [schema ? namedLine(fields.length) : positionalLine(capability)];
  if (doc.args) lines.push(doc.args);
  return [...lines, ...fields].map(show);
}

function namedLine(fields: number): string {
  if (fields === 0) return "`args`: an object as input_schema says.";
  return "`args`: an object with these fields (or `body`: the same as JSON text, or values in this order with `|` between).";
}

function positionalLine({ row, doc }: Capability): string {
  if (row.type === "agent") return "`body`: one text, what you want of the agent.";
  const templates = [row.target ?? "", doc.payload || (row.type === "fn" ? "$1" : "")];
  const pieces = Math.max(...templates.map(countSlots));
  const names = row.type === "flow" ? [] : [...new Set(templates.flatMap(namesIn))];
  const named = names.length > 0 ? ` \`args\`: an object with ${names.join(", ")}.` : "";
  if (pieces === 0) return named.trim() || "`body`: empty.";
  return `\`body\`: ${piecesLine(pieces, templates)}${named}`;
}

/** Whether a pipe has to be escaped depends on the last slot: `$2+` takes the rest of the body as it is. */
function piecesLine(pieces: number, templates: readonly string[]): string {
  const takesRest = templates.some((template) =>
    parseTemplate(template).some(
      (token) =>
        token.kind === "slot" &&
        token.slot.by === "position" &&
        token.slot.index === pieces &&
        token.slot.rest,
    ),
  );
  const pipe = takesRest ? "the last may hold pipes" : "a pipe inside is `\\|`";
  if (pieces === 1) return `one text; ${takesRest ? "it may hold pipes" : pipe}.`;
  const names = Array.from({ length: pieces }, (_, index) => `$${index + 1}`);
  return `${pieces} texts, \`${pieces < 4 ? names.join("|") : `$1|…|$${pieces}`}\`; ${pipe}.`;
}

/** Named slots and variables of RFC 6570 expressions. */
function namesIn(template: string): string[] {
  return parseTemplate(template, { expressions: /^\s*[A-Z]+\s+\S+:\/\//.test(template) }).flatMap(
    (token) => {
      if (token.kind === "expression") return token.variables.map(({ name }) => name);
      return token.kind === "slot" && token.slot.by === "name" ? [token.slot.name] : [];
    },
  );
}

function fieldsOf(schema: JsonObject): string[] {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(properties).map(([name, value]) => {
    const field = isJsonObject(value) ? value : {};
    const types = Array.isArray(field.type) ? field.type : [field.type ?? "any"];
    const description = typeof field.description === "string" ? `: ${field.description}` : "";
    return `\`${name}\` ${types.join("|")}${required.has(name) ? ", required" : ""}${description}`;
  });
}

/** As parsed; text that is no JSON object stays text, so that the reader sees what the row holds. */
function schemaFor({ row, schema }: Capability, show: ShowText): Json {
  if (!schema) return row.input_schema === null ? null : show(row.input_schema);
  const text = JSON.stringify(schema);
  const shown = show(text);
  if (shown === text) return schema;
  try {
    return JSON.parse(shown) as Json;
  } catch {
    // A masked word reached into an escape sequence: the text says more than nothing.
    return shown;
  }
}
