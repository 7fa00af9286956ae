import { createHash } from "node:crypto";
import type { Context } from "hono";
import { html, raw } from "hono/html";
import type { LedgerEvent } from "../core/event.ts";
import type { AppEnv } from "./app-env.ts";
import type { Confirmation } from "./receipts.ts";

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 46rem; padding: 2rem 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; }
.state { display: inline-block; padding: .1rem .6rem; border: 1px solid; border-radius: 1rem; font-size: .9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1rem; margin: 1.5rem 0; }
dt { opacity: .7; }
dd { margin: 0; }
code, pre { font: .85rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
pre { padding: 1rem; border: 1px solid; border-color: color-mix(in srgb, currentColor 25%, transparent); border-radius: .4rem; }
`;

/** In one piece: the hash is of every character between the tags. */
const STYLE_ELEMENT = `<style>${STYLE}</style>`;

/** The page carries one style sheet and nothing else; its hash is all that the policy lets in. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export interface ReceiptView {
  id: string;
  confirmation: Confirmation | null;
  /** Input and output too; present only for a reader with a credential. */
  whole?: LedgerEvent;
}

/** The public page of a receipt. Every value is text: the template escapes what it inserts. */
export async function receiptPage(c: Context<AppEnv>, view: ReceiptView): Promise<Response> {
  const { id, confirmation, whole } = view;
  const body = confirmation ? confirmedBody(id, confirmation, whole) : unknownBody(id);
  const document = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Receipt ${id}</title>
        ${raw(STYLE_ELEMENT)}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html>`;
  c.header("content-security-policy", POLICY);
  return c.html(document, confirmation ? 200 : 404);
}

function unknownBody(id: string) {
  return html`<h1>No such receipt</h1>
    <p>This ledger holds no invocation <code>${id}</code>.</p>`;
}

function confirmedBody(id: string, confirmation: Confirmation, whole: LedgerEvent | undefined) {
  const { status, key, at, actor_kind: actor, fingerprints, hash, signature, kid } = confirmation;
  const prints = Object.entries(fingerprints);
  return html`<h1>${key ?? "Receipt"}</h1>
    <p><span class="state">${status}</span></p>
    <dl>
      <dt>Invocation</dt>
      <dd><code>${id}</code></dd>
      <dt>At</dt>
      <dd><time datetime="${at}">${at}</time></dd>
      <dt>Caller</dt>
      <dd>${actor}</dd>
      ${prints.map(
        ([name, print]) =>
          html`<dt>SHA-256 of ${name}</dt>
            <dd><code>${print}</code></dd>`,
      )}
      <dt>Event hash</dt>
      <dd><code>${hash}</code></dd>
      <dt>Signature</dt>
      <dd><code>${signature}</code></dd>
      <dt>Key id</dt>
      <dd><code>${kid}</code></dd>
    </dl>
    <p>
      The signature is Ed25519 over the 32 bytes of the event hash. The public keys are at
      <a href="/.well-known/jwks.json">/.well-known/jwks.json</a>.
    </p>
    ${
      whole
        ? html`<h2>Whole event</h2>
            <pre>${JSON.stringify(whole, null, 2)}</pre>`
        : ""
    }`;
}
