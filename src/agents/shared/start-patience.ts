/** The default of `agent.read_timeout_ms`. */
const DEFAULT_MS = 5_000;
/** For servers and models that have to be loaded. */
const LEAST_MS = 60_000;

/** How long an agent that is started may take to get ready. Less than the default is what the operator asked for. */
export function startPatience({ readTimeoutMs }: { readonly readTimeoutMs: number }): number {
  return readTimeoutMs < DEFAULT_MS ? readTimeoutMs : Math.max(readTimeoutMs, LEAST_MS);
}
