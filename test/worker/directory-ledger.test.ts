import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

const OWNER = { "x-terminal-key": "owner-key-of-the-test-deployment" };
const ROW = {
  type: "fn",
  target: "echo",
  content: '# WHAT: Says back what it hears\n["$1+"]',
};

async function call(method: string, path: string, body?: object) {
  const init = { method, headers: OWNER, ...(body && { body: JSON.stringify(body) }) };
  const answer = await exports.default.fetch(new Request(`https://example.com${path}`, init));
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

/** The deployment as it is wired: real ledger, real search index, real dispatch. */
describe("a write of the directory in the whole Worker", () => {
  it("is live at once: callable on the very next request, in each of its states", async () => {
    const run = () => call("POST", "/api/dispatch", { key: "LIVE", body: "hi" });
    for (let round = 0; round < 5; round++) {
      const put = await call("PUT", "/api/directory/LIVE", {
        ...ROW,
        content: `# WHAT: round ${round}\n["${round}"]`,
      });
      expect(put.body.version).toBe(round + 1);
      expect((await run()).body).toMatchObject({ ok: true, result: String(round) });
    }
    await call("PATCH", "/api/directory/LIVE", { enabled: 0 });
    expect((await run()).status).toBe(404);
    await call("PATCH", "/api/directory/LIVE", { enabled: 1 });
    expect((await run()).status).toBe(200);
    await call("DELETE", "/api/directory/LIVE");
    expect((await run()).status).toBe(404);
  });

  it("stands in the ledger under the id that its history names", async () => {
    await call("PUT", "/api/directory/NOTED", ROW);
    const { versions } = (await call("GET", "/api/directory/NOTED/versions")).body;
    const { events } = (await call("GET", "/api/ledger?kind=DIRECTORY_MUTATE&key=NOTED")).body;
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      id: versions[0].receipt_id,
      actor: "owner",
      data: { action: "put", key: "NOTED", version: 1, row: { target: "echo" } },
    });
  });

  it("goes into the search index and out of it in the same batch", async () => {
    const indexed = async (): Promise<unknown> =>
      env.DB.prepare("select count(*) n from search_rows where key = 'FOUND'").first("n");
    await call("PUT", "/api/directory/FOUND", ROW);
    expect(await indexed()).toBe(1);
    await call("DELETE", "/api/directory/FOUND");
    expect(await indexed()).toBe(0);
  });

  it("of many writers at once, every one lands, and the log tells each once", async () => {
    await call("PUT", "/api/directory/BUSY", ROW);
    const answers = await Promise.all(
      [1, 2, 3].map((seq) => call("PATCH", "/api/directory/BUSY", { seq })),
    );
    expect(answers.map(({ body }) => body.version).sort()).toEqual([2, 3, 4]);
    const { events } = (await call("GET", "/api/ledger?kind=DIRECTORY_MUTATE&key=BUSY")).body;
    expect(events).toHaveLength(4);
  });
});
