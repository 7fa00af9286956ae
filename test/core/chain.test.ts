import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { canonical } from "../../src/core/canonical.ts";
import {
  chainEvent,
  checkEvent,
  checkHead,
  GENESIS,
  packDraft,
  publicJwk,
  readJwks,
  signHead,
  thumbprint,
  type PublicKeys,
  type Signer,
} from "../../src/core/chain.ts";
import type { EventDraft, LedgerEvent } from "../../src/core/event.ts";
import type { Json } from "../../src/core/json.ts";

const { privateKey } = generateKeyPairSync("ed25519");
const jwk = publicJwk(privateKey.export({ format: "jwk" }).x ?? "");
const signer: Signer = { kid: jwk.kid, sign: (bytes) => sign(null, bytes, privateKey) };
const keys = readJwks({ keys: [{ ...jwk }] }) as PublicKeys;

const draft: EventDraft = {
  id: "inv_0_aaaaaaaaaaaaaaaa",
  kind: "INVOKE",
  at: "2026-08-01T00:00:00.000Z",
  actor: "owner",
  via: "http",
  key: "NOW",
  trace: "t_1",
  parent: null,
  data: { output: "é/1", n: 7, nested: { b: 1, a: [true, null] } },
};

const first = chainFor(draft, { seq: 1, prev: GENESIS.hash, ...signer });

function chainFor(from: EventDraft, at: Parameters<typeof chainEvent>[1]): LedgerEvent {
  return JSON.parse(chainEvent(packDraft(from), at).form) as LedgerEvent;
}

/** The same document written by someone else: spacing, order of members, escapes. */
function reprint(event: LedgerEvent): LedgerEvent {
  const reversed = Object.fromEntries(Object.entries(event).toReversed());
  const text = JSON.stringify(reversed, null, 2)
    .replaceAll("é", () => "\\u00e9")
    .replaceAll("/", () => "\\/");
  return JSON.parse(text) as LedgerEvent;
}

describe("an event", () => {
  it("is good in its place, whoever prints it", () => {
    expect(checkEvent(first, GENESIS, keys)).toBeNull();
    expect(checkEvent(reprint(first), GENESIS, keys)).toBeNull();
  });

  it("names the key inside what is hashed", () => {
    const { hash: _hash, signature: _signature, ...unsigned } = first;
    expect(unsigned.kid).toBe(jwk.kid);
    expect(canonical(unsigned)).toContain(`"kid":"${jwk.kid}"`);
  });

  it("chains to the one before it", () => {
    const second = chainFor({ ...draft, id: "b" }, { seq: 2, prev: first.hash, ...signer });
    expect(checkEvent(second, first, keys)).toBeNull();
    expect(checkEvent(second, GENESIS, keys)).toBe("seq 2 where 1 belongs");
    expect(checkEvent({ ...second, seq: 1 }, GENESIS, keys)).toBe(
      "prev is not the hash of the event before",
    );
  });

  it.each([
    ["data", { ...draft.data, n: 8 }, "hash does not match the event"],
    ["key", "NOV", "hash does not match the event"],
    ["extra", 1, "hash does not match the event"],
    ["hash", "00", "malformed hash"],
    ["kid", "nobody", "hash does not match the event"],
    ["data", { n: 2 ** 53 }, "unsafe integer 9007199254740992"],
    ["signature", null, "malformed signature"],
    ["signature", "%%%", "malformed signature"],
    ["signature", `${first.signature}==`, "malformed signature"],
    [
      "signature",
      Buffer.from(first.signature, "base64url").toString("base64"),
      "malformed signature",
    ],
    ["signature", Buffer.alloc(64).toString("base64url"), "signature does not match"],
  ])("with another %s (%j) is bad", (member, value, why) => {
    expect(checkEvent({ ...first, [member]: value as Json }, GENESIS, keys)).toBe(why);
  });

  it("has one spelling of its signature, though its last character has idle bits", () => {
    const last = first.signature.at(-1) ?? "";
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const twin = first.signature.slice(0, -1) + alphabet[alphabet.indexOf(last) + 1];
    expect(Buffer.from(twin, "base64url")).toEqual(Buffer.from(first.signature, "base64url"));
    expect(checkEvent({ ...first, signature: twin }, GENESIS, keys)).toBe("malformed signature");
  });

  it("signed by a key that the reader lacks is not called forged", () => {
    expect(checkEvent(first, GENESIS, new Map())).toBe(`unknown key "${jwk.kid}"`);
  });

  it.each([null, 1, "x", [], {}])("is not %j", (value) => {
    expect(typeof checkEvent(value, GENESIS, keys)).toBe("string");
    expect(typeof checkEvent(value, null, keys)).toBe("string");
  });

  it("can hold anything that a caller sends", () => {
    const data = {
      a: "\ud800",
      b: 2 ** 53,
      c: Infinity,
      d: "\u0000",
      e: { __proto__: null, x: -0 },
    };
    const { form } = chainEvent(packDraft({ ...draft, data }), {
      seq: 1,
      prev: GENESIS.hash,
      ...signer,
    });
    const event = JSON.parse(form) as LedgerEvent;
    expect(form).toBe(canonical(event));
    expect(checkEvent(JSON.parse(form), GENESIS, keys)).toBeNull();
  });
});

describe("a head", () => {
  const head = signHead({ origin: "rowcall/0", size: 1, hash: first.hash, at: draft.at }, signer);

  it("closes the log it was signed over and no other", () => {
    expect(checkHead(head, first, keys)).toBeNull();
    expect(checkHead(head, GENESIS, keys)).toBe("the signed head counts 1 events");
    expect(checkHead(head, { seq: 1, hash: "x" }, keys)).toBe("the signed head has another hash");
  });

  it.each(["origin", "size", "hash", "at"])("whose %s was changed is bad", (member) => {
    expect(checkHead({ ...head, [member]: "x" }, first, keys)).toBe("signature does not match");
  });
});

describe("a set of keys", () => {
  it("has RFC 7638 thumbprints as kids", () => {
    // The Ed25519 vector of RFC 8037, appendix A.3.
    expect(thumbprint("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")).toBe(
      "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
    );
  });

  it("is refused when a key is not what its kid names", () => {
    const x = publicJwk("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").x;
    expect(readJwks({ keys: [{ ...jwk, x }] })).toBe("a key is not what its kid names");
    expect(readJwks({ keys: [{ ...publicJwk("!!") }] })).toBe("a key is malformed");
  });

  it.each([null, {}, { keys: 1 }, { keys: [1] }, { keys: [], more: 1 }])("is not %j", (value) => {
    expect(readJwks(value as Json)).toBe("not a JWKS");
  });

  it("passes over keys that sign other things", () => {
    expect((readJwks({ keys: [{ kty: "EC", kid: "t" }, { ...jwk }] }) as PublicKeys).size).toBe(1);
  });
});
