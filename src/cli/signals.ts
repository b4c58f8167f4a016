/** A terminal that is closed hangs up: what would end us at once leaves our agents running. */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
type Signal = keyof typeof EXIT_CODES;
const SIGNALS = Object.keys(EXIT_CODES) as readonly Signal[];

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
  for (const signal of SIGNALS) process.on(signal, handle);
  return {
    release() {
      for (const signal of SIGNALS) process.off(signal, handle);
    },
  };
}
