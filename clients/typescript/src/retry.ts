/** Statuses after which the same call may succeed. 409 is a repeat that met its first attempt still running. */
const passing = new Set([409, 429, 502, 503, 504]);

/**
 * How long to wait before a call is repeated, in milliseconds; null: not at all. `answer` is null when the connection
 * broke. The server's `Retry-After` is taken at its word; a longer one than `longest` is not waited for.
 */
export function retryDelay(answer: Response | null, attempt: number, longest: number): number | null {
  if (answer && !passing.has(answer.status)) return null;
  const told = answer?.headers.get("Retry-After");
  if (answer?.status === 409 && !told) return null; // a conflict that does not pass
  if (told && /^\d+$/.test(told)) {
    const wait = Number(told) * 1000;
    return wait <= longest ? wait : null;
  }
  const wait = Math.min(longest, 500 * 2 ** attempt);
  return wait / 2 + (Math.random() * wait) / 2; // so that those who failed together do not come back together
}

/** Waits, or rejects when the signal says so. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    if (signal?.aborted) return fail(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      fail(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      done();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
