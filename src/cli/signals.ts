const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
type Signal = keyof typeof EXIT_CODES;

/** The first signal asks to stop, the second forces it. Resolves with the exit code of a forced stop, never otherwise. */
export function onSignals(handlers: { stop(signal: Signal): void; force(signal: Signal): void }): {
  readonly forced: Promise<number>;
  release(): void;
} {
  let asked = false;
  let resolveForced: (code: number) => void = () => {};
  const forced = new Promise<number>((resolve) => {
    resolveForced = resolve;
  });
  const handle = (signal: Signal): void => {
    if (!asked) {
      asked = true;
      handlers.stop(signal);
      return;
    }
    handlers.force(signal);
    resolveForced(EXIT_CODES[signal]);
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return {
    forced,
    release() {
      process.off('SIGINT', handle);
      process.off('SIGTERM', handle);
    },
  };
}
