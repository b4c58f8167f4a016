const PATIENCE_MS = 15_000;

/** How long an answer is waited for. Without an end, a question that no connection is free for would wait in silence. */
export function patience(): AbortSignal {
  return AbortSignal.timeout(PATIENCE_MS);
}
