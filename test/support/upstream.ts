import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Upstream {
  origin: string;
  stop: () => Promise<void>;
}

/** A real HTTP server on loopback whose paths each behave in one way. */
export async function startUpstream(): Promise<Upstream> {
  const server = createServer((request, response) => {
    response.end(`${request.method} ${request.url}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
