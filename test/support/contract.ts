import type { Capability } from "../../src/core/call.ts";
import { contractOf, type Contract } from "../../src/core/contract.ts";
import { parseDocstring } from "../../src/core/docstring.ts";
import { isJsonObject } from "../../src/core/json.ts";
import { OWNER, type Principal } from "../../src/core/principal.ts";
import { completeRow } from "../../src/core/row-input.ts";
import type { Row } from "../../src/core/row.ts";

export const ORIGIN = "https://rowcall.example.com";

/** A row as its author gives it; the rest is what the table's defaults say. */
export type RowOf = Partial<Row> & Pick<Row, "key" | "type">;

function capability(row: RowOf): Capability {
  const full: Row = {
    ...completeRow({ type: row.type }),
    updated_at: "",
    created_at: null,
    ...row,
  } as Row;
  const schema: unknown = full.input_schema === null ? undefined : JSON.parse(full.input_schema);
  return {
    row: full,
    version: 1,
    doc: parseDocstring(full.content),
    operation: "read",
    fingerprint: "f".repeat(64),
    schema: isJsonObject(schema) ? schema : undefined,
    claims: [],
    fresh: true,
  };
}

export function readContract(row: RowOf, principal: Principal = OWNER): Contract {
  return contractOf({ capability: capability(row), principal, origin: ORIGIN });
}
