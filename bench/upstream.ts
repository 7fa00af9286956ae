/** The upstream of the benchmark, in a process of its own: a small JSON answer to everything. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const BODY = JSON.stringify({
  current: { temperature_2m: 21.5, unit: "°C" },
  note: "n".repeat(120),
});

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "application/json" }).end(BODY);
});
server.listen(0, "127.0.0.1", () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
process.on("disconnect", () => process.exit(0));
