/** Version of rowcall; the same as in package.json, which a test holds it to. */
export const VERSION = "0.1.0";

/** The protocol that the dispatch endpoint speaks. */
export const PROTOCOL = { protocol: "OIP", version: "1.2.0" } as const;
