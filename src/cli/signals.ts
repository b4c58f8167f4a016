const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
type Signal = keyof typeof EXIT_CODES;

export interface SignalHandlers {
  stop(signal: Signal): void;
  /** The exit code is what shells expect of a process ended by the signal. */
  force(signal: Signal, exitCode: number): void;
}

/** The first signal asks to stop, the second forces it. */
export function onSignals(handlers: SignalHandlers): { release(): void } {
  let asked = false;
  const handle = (signal: Signal): void => {
    if (asked) handlers.force(signal, EXIT_CODES[signal]);
    else handlers.stop(signal);
    asked = true;
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return {
    release() {
      process.off('SIGINT', handle);
      process.off('SIGTERM', handle);
    },
  };
}
