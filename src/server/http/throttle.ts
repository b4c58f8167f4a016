/** Calls at once, then at most once per interval; what came in between becomes one late call. */
export function throttled(everyMs: number, signal: AbortSignal, act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let again = false;
  signal.addEventListener('abort', () => clearTimeout(timer));
  const run = () => {
    again = false;
    timer = setTimeout(() => {
      timer = undefined;
      if (again) run();
    }, everyMs);
    act();
  };
  return () => {
    if (timer !== undefined) again = true;
    else if (!signal.aborted) run();
  };
}
