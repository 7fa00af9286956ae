import type { TestProject } from "vitest/node";
import { startUpstream } from "./upstream.ts";

/** Starts one loopback upstream for all Worker tests; `inject("upstream")` is its origin. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const upstream = await startUpstream();
  project.provide("upstream", upstream.origin);
  return upstream.stop;
}

declare module "vitest" {
  interface ProvidedContext {
    upstream: string;
  }
}
