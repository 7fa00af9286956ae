/** One span of time over everything that a request does, headers and body alike (SPEC §5). */
export interface Deadline {
  /** Aborts when the time is over; the platform closes the connection. */
  signal: AbortSignal;
  /** Settles as the promise does, or rejects when the time is over, even if the platform goes on waiting. */
  within<T>(promise: Promise<T>): Promise<T>;
  stop(): void;
}

export function startDeadline(timeoutMs: number): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const timer = setTimeout(() => controller.abort(new Error("timed out")), timeoutMs);
  const over = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  // Nobody may be waiting at the moment it fires.
  over.catch(() => undefined);
  return {
    signal,
    within: (promise) => Promise.race([promise, over]),
    stop: () => clearTimeout(timer),
  };
}
