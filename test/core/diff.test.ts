import { expect, it } from "vitest";
import { diffRows } from "../../src/core/diff.ts";
import { completeRow } from "../../src/core/row-input.ts";
import type { Row } from "../../src/core/row.ts";

const row: Row = {
  ...completeRow({ type: "fn", target: "now" }),
  key: "NOW",
  updated_at: "1",
  created_at: "0",
};

it("a diff names each changed column with its old and new value, in the table's order", () => {
  expect(diffRows(row, { ...row, seq: 2, target: null, updated_at: "2" })).toEqual([
    { column: "target", old: "now", new: null },
    { column: "seq", old: null, new: 2 },
  ]);
});

it("the time of writing alone is no difference", () => {
  expect(diffRows(row, { ...row, updated_at: "2" })).toEqual([]);
});

it("a deletion loses every column that held something", () => {
  const changes = diffRows(row, null);
  expect(changes).toContainEqual({ column: "key", old: "NOW", new: null });
  expect(changes.every((change) => change.old !== null && change.new === null)).toBe(true);
  expect(diffRows(null, row)).toEqual(
    changes.map(({ column, old }) => ({ column, old: null, new: old })),
  );
});
