import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { publicJwk, type Jwks, type Signer } from "../core/chain.ts";

/** The log's signing keys. They live in this object's own SQLite alone, where no query of a row can reach. */
export interface Keys {
  current(): Signer;
  /** A new key takes over. The private half of the old one is erased, its public half stays. */
  rotate(): Signer;
  /** Every public key that ever signed, newest first. */
  jwks(): Jwks;
}

/** Makes the first key when there is none: outside of any append, whose failure would take the key with it. */
export function openKeys(storage: DurableObjectStorage): Keys {
  const { sql } = storage;
  let signer = load() ?? make();

  function load(): Signer | null {
    const [row] = sql
      .exec<{ kid: string; x: string; d: string }>(
        "select kid, x, d from signing_keys where d is not null",
      )
      .toArray();
    if (!row) return null;
    const { x, d } = row;
    return signerOf(
      row.kid,
      createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", x, d }, format: "jwk" }),
    );
  }

  function make(): Signer {
    const { privateKey } = generateKeyPairSync("ed25519");
    const { x, d } = privateKey.export({ format: "jwk" });
    if (!x || !d) throw new Error("an Ed25519 key without its members");
    const { kid } = publicJwk(x);
    sql.exec("update signing_keys set d = null where d is not null");
    sql.exec("insert into signing_keys (kid, x, d) values (?, ?, ?)", kid, x, d);
    return signerOf(kid, privateKey);
  }

  return {
    current: () => signer,
    rotate: () => (signer = storage.transactionSync(make)),
    jwks: () => {
      const rows = sql
        .exec<{ x: string }>("select x from signing_keys order by rowid desc")
        .toArray();
      return { keys: rows.map(({ x }) => publicJwk(x)) };
    },
  };
}

function signerOf(kid: string, key: KeyObject): Signer {
  return { kid, sign: (bytes) => sign(null, bytes, key) };
}
