import { readFileSync } from "node:fs";
import path from "node:path";

/** Folder of public documents that stay outside the repository. */
export const CORPUS = path.resolve(
  path.join(import.meta.dirname, "../.."),
  process.env["CORPUS"] ?? "../shared/files",
);

export function corpusText(name: string): string {
  return readFileSync(path.join(CORPUS, name), "utf8");
}
