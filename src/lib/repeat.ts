/** What is done again and again. */
export interface Repeated {
  /** Nothing begins any more; resolves when what is under way has ended. */
  stop(): Promise<void>;
}

/** Pauses and works in turn until it is stopped, whatever becomes of the work. Each pause is asked for when it begins. */
export function repeat(work: () => Promise<unknown>, pauseMs: () => number): Repeated {
  let isStopped = false;
  let endPause = (): void => {};
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs());
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function carriedOut(): Promise<void> {
    try {
      await work();
    } catch {
      // It is the business of the work to tell.
    }
  }

  async function goOn(): Promise<void> {
    while (!isStopped) {
      await pause();
      if (!isStopped) await carriedOut();
    }
  }

  const going = goOn();
  return {
    stop() {
      isStopped = true;
      endPause();
      return going;
    },
  };
}
