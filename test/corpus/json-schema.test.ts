import { readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { parseExact } from "../../src/core/json-text.ts";
import { validate } from "../../src/core/schema.ts";
import { CORPUS, corpusText } from "../support/corpus.ts";

interface Group {
  description: string;
  schema: Json;
  tests: { description: string; data: Json; valid: boolean }[];
}

const DRAFTS = {
  draft7: "http://json-schema.org/draft-07/schema#",
  "draft2020-12": undefined,
} as const;

/** Vectors that do not hold, each a whole file or one group of it, by cause. */
const KNOWN: { [draft in keyof typeof DRAFTS]: readonly string[] } = {
  draft7: [
    // No schema is ever fetched: what is not in the row's own schema leads nowhere.
    "refRemote.json",
    "definitions.json: validate definition against metaschema",
    "ref.json: remote ref, containing refs itself",
    // The library lets an `$id` beside `$ref` move the base.
    "ref.json: $ref prevents a sibling $id from changing the base uri",
  ],
  "draft2020-12": [
    "refRemote.json",
    "defs.json: validate definition against metaschema",
    "ref.json: remote ref, containing refs itself",
    "vocabulary.json: schema that uses custom metaschema with with no validation vocabulary",
    // The library has no dynamic scope; `$dynamicRef` is read as `$ref`.
    "dynamicRef.json",
    "unevaluatedItems.json: unevaluatedItems with $dynamicRef",
    "unevaluatedProperties.json: unevaluatedProperties with $dynamicRef",
    // The library takes an anchor relative to the wrong base.
    "ref.json: order of evaluation: $id and $anchor and $ref",
    // On purpose: formats are asserted, not only noted.
    "format.json",
  ],
};

describe.each(Object.keys(DRAFTS) as (keyof typeof DRAFTS)[])("the vectors of %s", (draft) => {
  it("hold, but for those listed here, and every listed one is still needed", () => {
    const failed = failures(draft);
    const listed = (name: string) => KNOWN[draft].find((known) => name.startsWith(`${known}: `));
    expect(failed.filter((name) => listed(name) === undefined)).toEqual([]);
    expect(new Set(failed.map(listed))).toEqual(new Set(KNOWN[draft]));
  });
});

function failures(draft: keyof typeof DRAFTS): string[] {
  const folder = path.join("json-schema-test-suite/tests", draft);
  const files = readdirSync(path.join(CORPUS, folder)).filter((name) => name.endsWith(".json"));
  return files.flatMap((file) =>
    (parseExact(corpusText(path.join(folder, file))) as unknown as Group[]).flatMap((group) =>
      group.tests
        .filter(
          ({ data, valid }) =>
            (validate(inDraft(group.schema, DRAFTS[draft]), data).length === 0) !== valid,
        )
        .map((vector) => `${file}: ${group.description}: ${vector.description}`),
    ),
  );
}

/** Boolean schemas stand below a keyword here, since a row's schema is an object. */
function inDraft(schema: Json, uri: string | undefined): JsonObject {
  const object = isJsonObject(schema) ? (schema as JsonObject) : { allOf: [schema] };
  return uri && !("$schema" in object) ? { $schema: uri, ...object } : object;
}
