import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const src = path.join(import.meta.dirname, "../../src");

/** Room by room, what may be imported: other rooms, single files of them, and packages. */
const WALLS: Record<string, readonly string[]> = {
  core: ["core"],
  dispatch: ["core"],
  outbound: ["core", "dispatch/ports.ts"],
  resolver: ["core", "dispatch/ports.ts"],
  runners: ["core", "dispatch", "outbound", "objects/stubs.ts"],
  store: ["core", "dispatch/ports.ts"],
  objects: ["core", "dispatch"],
  http: ["core", "dispatch", "runtime.ts", "objects/stubs.ts"],
  node: ["core"],
};

/** A room that is one file at the top may see every other. */
const TOP = new Set(["index.ts", "runtime.ts"]);

/** The clock, chance, the network and the platform are handed to core as values. */
const OUTSIDE_OF_CORE =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bfetch\(|["'](?:cloudflare:|hono|drizzle-orm|agents)/;

interface Source {
  file: string;
  text: string;
  imports: string[];
}

function sources(folder: string): Source[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|tsx|mjs)$/.test(name))
    .map((name) => {
      const text = readFileSync(path.join(folder, name), "utf8");
      const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g)].map(
        (match) => match[1]!,
      );
      return { file: name.split(path.sep).join("/"), text, imports };
    });
}

const all = sources(src);
const roomOf = (file: string): string =>
  file.includes("/") ? file.slice(0, file.indexOf("/")) : file;

describe("the walls of the house", () => {
  it.each(all.map((source) => [source.file, source] as const))(
    "%s imports only what its room may",
    (file, source) => {
      const room = roomOf(file);
      if (TOP.has(room)) return;
      const allowed = WALLS[room];
      expect(allowed, `the room ${room} has no entry in the table`).toBeDefined();
      const strangers = source.imports
        .map((target) => path.posix.normalize(path.posix.join(path.posix.dirname(file), target)))
        .filter((target) => !target.startsWith("../"))
        .filter((target) => roomOf(target) !== room)
        .filter(
          (target) => !allowed!.some((wall) => target === wall || target.startsWith(`${wall}/`)),
        );
      expect(strangers).toEqual([]);
    },
  );

  it.each(
    all
      .filter(({ file }) => roomOf(file) === "core")
      .map(({ file, text }) => [file, text] as const),
  )("%s is pure", (_file, text) => {
    expect(OUTSIDE_OF_CORE.exec(withoutComments(text))?.[0] ?? null).toBeNull();
  });

  it("no file is longer than 300 lines", () => {
    const long = [
      ...all,
      ...sources(path.join(src, "../test")),
      ...sources(path.join(src, "../bench")),
    ]
      .map(({ file, text }) => ({ file, lines: text.split("\n").length - 1 }))
      .filter(({ lines }) => lines > 300);
    expect(long).toEqual([]);
  });

  it("only the Worker's entry has a default export", () => {
    const files = all.filter(({ text }) => /^export default /m.test(text)).map(({ file }) => file);
    expect(files).toEqual(["index.ts"]);
  });

  it("every dependency is used by the source", () => {
    const manifest = JSON.parse(readFileSync(path.join(src, "../package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const unused = Object.keys(manifest.dependencies).filter(
      (name) => !all.some(({ text }) => text.includes(`"${name}"`) || text.includes(`"${name}/`)),
    );
    expect(unused).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}
