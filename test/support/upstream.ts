import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";

export interface Upstream {
  origin: string;
  stop: () => Promise<void>;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
  /** The path's parts after the behaviour's name. */
  rest: string[];
  body: string;
}

/**
 * A real HTTP server on loopback whose first path segment picks one behaviour; any other path answers
 * `METHOD /path`. `GET /elsewhere` is the origin of a second one with the same behaviours and memory.
 */
export async function startUpstream(): Promise<Upstream> {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://upstream");
      const [name = "", ...rest] = url.pathname.slice(1).split("/");
      const behave = BEHAVIOURS.get(name) ?? plain;
      void behave({ request, response, url, rest, body: Buffer.concat(chunks).toString() });
    });
  };
  const servers = [createServer(answer), createServer(answer)];
  const origins = await Promise.all(
    servers.map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }),
  );
  BEHAVIOURS.set("elsewhere", ({ response }) => response.end(origins[1]));
  return {
    origin: origins[0]!,
    stop: async () => {
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** Requests counted per id, and ids of streams whose connection the client closed. */
const counts = new Map<string, number>();
const closed = new Set<string>();

function count(id: string): number {
  const seen = (counts.get(id) ?? 0) + 1;
  counts.set(id, seen);
  return seen;
}

function plain({ request, response }: Exchange): void {
  response.end(`${request.method} ${request.url}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function number(url: URL, name: string, fallback: number): number {
  return Number(url.searchParams.get(name) ?? fallback);
}

const MIB = Buffer.alloc(1024 * 1024, "0");

/** 200 MB of zeros, made once. */
const bombs = new Map<string, Buffer>();
function bomb(coding: "gzip" | "br"): Buffer {
  const made =
    bombs.get(coding) ??
    (coding === "gzip" ? gzipSync : brotliCompressSync)(Buffer.alloc(200 * 1024 * 1024));
  bombs.set(coding, made);
  return made;
}

const BEHAVIOURS = new Map<string, (exchange: Exchange) => unknown>([
  /** Everything that was sent, as JSON. */
  [
    "echo",
    ({ request, response, body }) => {
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          method: request.method,
          url: request.url,
          headers: request.headers,
          body,
        }),
      );
    },
  ],
  /** `/status/418?body=…&retry-after=…&location=…&type=…`, counted under `id`. */
  [
    "status",
    ({ response, url, rest }) => {
      const id = url.searchParams.get("id");
      if (id !== null) count(id);
      for (const name of ["retry-after", "location"]) {
        const value = url.searchParams.get(name);
        if (value !== null) response.setHeader(name, value);
      }
      response.setHeader("content-type", url.searchParams.get("type") ?? "text/plain");
      response.statusCode = Number(rest[0]);
      response.end(url.searchParams.get("body") ?? "");
    },
  ],
  /** Answers 401 and says which credential it did not like, in every spelling. */
  [
    "leak",
    ({ request, response, url }) => {
      const said = request.headers.authorization ?? url.searchParams.get("api_key") ?? "";
      response.statusCode = 401;
      response.end(
        `bad: ${said} ${encodeURIComponent(said)} ${JSON.stringify(said)} ${Buffer.from(said).toString("base64")} ${request.url}`,
      );
    },
  ],
  /** Fails `fail` times with `status` (0: the connection is reset), then answers `ok <n>`. */
  [
    "flaky",
    ({ request, response, url, rest }) => {
      const seen = count(rest[0] ?? "");
      if (seen > number(url, "fail", 1)) return response.end(`ok ${seen}`);
      const status = number(url, "status", 503);
      if (status === 0) return request.socket.destroy();
      const after = url.searchParams.get("retry-after");
      if (after !== null) response.setHeader("retry-after", after);
      response.statusCode = status;
      return response.end(`failed ${seen}`);
    },
  ],
  ["count", ({ response, rest }) => response.end(String(counts.get(rest[0] ?? "") ?? 0))],
  /** `true` once the client has closed the stream of that id. */
  ["closed", ({ response, rest }) => response.end(String(closed.has(rest[0] ?? "")))],
  [
    "reset",
    ({ request, url }) => {
      count(url.searchParams.get("id") ?? "");
      request.socket.resetAndDestroy();
    },
  ],
  /** Never sends a header. */
  ["mute", ({ request, rest }) => request.socket.on("close", () => closed.add(rest[0] ?? ""))],
  /** Headers and the beginning of a body, then silence. */
  [
    "stall",
    ({ request, response, rest }) => {
      request.socket.on("close", () => closed.add(rest[0] ?? ""));
      response.write("beginning");
    },
  ],
  /** The whole answer after `ms`, in `n` pieces. */
  [
    "drip",
    async ({ request, response, url, rest }) => {
      request.socket.on("close", () => closed.add(rest[0] ?? ""));
      const pieces = number(url, "n", Infinity);
      for (let piece = 0; piece < pieces && !response.destroyed; piece += 1) {
        response.write("x");
        await pause(number(url, "ms", 100));
      }
      response.end("done");
    },
  ],
  /** Chunks without an end. */
  [
    "endless",
    async ({ request, response, rest }) => {
      request.socket.on("close", () => closed.add(rest[0] ?? ""));
      while (!response.destroyed) {
        if (!response.write(MIB))
          await Promise.race([
            new Promise((resolve) => response.once("drain", resolve)),
            pause(200),
          ]);
      }
    },
  ],
  [
    "bomb",
    ({ response, rest }) => {
      const coding = rest[0] === "br" ? "br" : "gzip";
      response.setHeader("content-type", "application/json");
      response.setHeader("content-encoding", coding);
      response.end(bomb(coding));
    },
  ],
  [
    "corrupt",
    ({ response }) => {
      response.setHeader("content-encoding", "gzip");
      response.end(
        Buffer.concat([
          gzipSync("x".repeat(1000)).subarray(0, 12),
          createHash("sha512").update("noise").digest(),
        ]),
      );
    },
  ],
  /** A Content-Length that is not true: `?says=100&sends=10`. */
  [
    "length",
    ({ request, url }) => {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: ${number(url, "says", 100)}\r\n\r\n`;
      request.socket.end(head + "x".repeat(number(url, "sends", 10)));
    },
  ],
  /** `/bytes?hex=…&type=…`: exactly these bytes under exactly that type, or none. */
  [
    "bytes",
    ({ response, url }) => {
      const type = url.searchParams.get("type");
      if (type !== null) response.setHeader("content-type", type);
      response.end(Buffer.from(url.searchParams.get("hex") ?? "", "hex"));
    },
  ],
  /** `/redirect/307?to=…`, counted under `id`. */
  [
    "redirect",
    ({ response, url, rest }) => {
      count(url.searchParams.get("id") ?? "");
      response.writeHead(Number(rest[0]), { location: url.searchParams.get("to") ?? "" });
      response.end("moved");
    },
  ],
  /** `/chain/3`: three redirects to the end. */
  [
    "chain",
    ({ response, rest }) => {
      const left = Number(rest[0]);
      if (left === 0) return response.end("the end");
      response.writeHead(302, { location: `/chain/${left - 1}` });
      return response.end();
    },
  ],
]);
