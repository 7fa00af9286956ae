import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { canonical, parseUnambiguous } from "../../src/core/canonical.ts";

/** The reference vectors of RFC 8785. `CORPUS` names the folder that holds `jcs-testdata`. */
const folder = path.join(
  process.env.CORPUS ?? path.join(import.meta.dirname, "../../../shared/files"),
  "jcs-testdata",
);

describe.each(readdirSync(path.join(folder, "input")))("%s", (file) => {
  const form = canonical(parseUnambiguous(readFileSync(path.join(folder, "input", file), "utf8")));

  it("has the canonical form of the reference", () => {
    expect(form).toBe(readFileSync(path.join(folder, "output", file), "utf8"));
  });

  it("has its bytes, too", () => {
    const hex = readFileSync(path.join(folder, "outhex", file.replace(".json", ".txt")), "utf8");
    expect(Buffer.from(form).toString("hex")).toBe(hex.replace(/\s+/g, ""));
  });
});
