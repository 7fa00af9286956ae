import type { RunResult } from "../../src/core/call.ts";
import { inject } from "vitest";
import type { RequestDraft } from "../../src/core/request.ts";
import { send } from "../../src/outbound/send.ts";
import { makePorts, NO_CREDENTIAL, type TestPorts } from "./ports.ts";

const upstream = inject("upstream");
/** What `send` is told of the row and of this deployment. */
export const options = { key: "K", origin: "https://example.com" };

export function draft(path: string, more: Partial<RequestDraft> = {}): RequestDraft {
  return {
    method: "GET",
    url: path.startsWith("/") ? upstream + path : path,
    headers: [],
    body: null,
    ...more,
  };
}

export function get(path: string, ports: TestPorts = makePorts()): Promise<RunResult> {
  return send(ports, draft(path), NO_CREDENTIAL, options);
}

export function write(
  method: string,
  path: string,
  ports: TestPorts = makePorts(),
): Promise<RunResult> {
  return send(ports, draft(path, { method, body: "{}" }), NO_CREDENTIAL, options);
}
