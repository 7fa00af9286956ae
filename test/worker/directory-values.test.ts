import { beforeEach, expect, it } from "vitest";
import { insertRow, makeDirectoryApp, WHAT, type DirectoryApp } from "../support/directory-app.ts";

let app: DirectoryApp;

beforeEach(async () => {
  app = makeDirectoryApp();
  await app.db.batch(
    ["directory", "directory_versions"].map((table) => app.db.prepare(`delete from ${table}`)),
  );
});

const FN = { type: "fn", target: "echo", content: WHAT };
const make = (key: string, more: object = {}) =>
  app.call("POST", "/api/directory", { key, ...FN, ...more });

it("the table itself refuses a fifth type", async () => {
  await expect(insertRow(app.db, { key: "X", type: "cron" })).rejects.toThrow(
    /CHECK constraint failed/,
  );
});

it("each write appends one DIRECTORY_MUTATE event and gives the index its statements", async () => {
  await make("E");
  await app.call("PATCH", "/api/directory/E", { seq: 1 });
  await app.call("DELETE", "/api/directory/E");
  expect(
    app.log.events.map(({ kind, key, actor, via, trace, data }) => [
      kind,
      key,
      actor,
      via,
      trace,
      data.action,
      data.version,
    ]),
  ).toEqual([
    ["DIRECTORY_MUTATE", "E", "owner", "http", "t_test", "create", 1],
    ["DIRECTORY_MUTATE", "E", "owner", "http", "t_test", "patch", 2],
    ["DIRECTORY_MUTATE", "E", "owner", "http", "t_test", "delete", 3],
  ]);
  expect(app.log.events[1]!.data).toMatchObject({
    key: "E",
    row: { key: "E", seq: 1, target: "echo" },
  });
  expect(app.log.events[2]!.data.row).toBeNull();
  expect(app.indexed).toEqual([
    ["E", true],
    ["E", true],
    ["E", false],
  ]);
});

it.each([
  "'; drop table directory; --",
  '" or 1=1 --',
  "%_\\",
  "NUL \0 inside",
  "\u{1F600} \u202e",
  "\ud800",
  "{{x}}",
  "$& $1 $$",
  "<script>",
])("%j is only text", async (text) => {
  await make("S", { category: text, target: text, content: `${WHAT}\n${text}` });
  const { row } = (await app.call("GET", "/api/directory/S")).body;
  expect(row).toMatchObject({
    category: text.toWellFormed(),
    target: text.toWellFormed(),
    content: `${WHAT}\n${text.toWellFormed()}`,
  });
  const query = new URLSearchParams({ category: text.toWellFormed() });
  expect((await app.call("GET", `/api/directory?${query}`)).body.rows).toHaveLength(1);
  expect((await app.call("GET", "/api/directory/S/versions/1")).body.row).toEqual(row);
  expect((await app.call("PATCH", "/api/directory/S", { seq: 1 })).status).toBe(200);
});
