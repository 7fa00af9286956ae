import type { Blobs } from "../dispatch/ports.ts";

const REF = /^sha256\/[0-9a-f]{64}$/;

/**
 * R2 as a store of texts by their hash. A name is the hash of what it holds, so it is written once: the
 * condition spares a second writer the bytes, and the checksum refuses a name that lies.
 */
export function blobStore(bucket: R2Bucket): Blobs {
  return {
    put: async (text, hashHex) => {
      const ref = `sha256/${hashHex}`;
      await bucket.put(ref, text, { onlyIf: { etagDoesNotMatch: "*" }, sha256: hashHex });
      return ref;
    },
    get: async (ref) => {
      if (!REF.test(ref)) return null;
      const object = await bucket.get(ref);
      return object && object.text();
    },
  };
}
