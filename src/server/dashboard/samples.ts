import type { Daemon } from '../../ports/daemon.ts';

/** How the service was at one moment. */
export interface ServiceSample {
  readonly at: number;
  readonly running: number;
  readonly retrying: number;
  readonly pollMs: number;
  readonly failed: boolean;
}

/** A day at one poll in two minutes; with more polls, every other is let go. */
const MAX_SAMPLES = 720;

/** What each poll found, since this service started. */
export interface Samples {
  all(): readonly ServiceSample[];
}

export function keepSamples({ notices, clock }: Pick<Daemon, 'notices' | 'clock'>): Samples {
  let kept: readonly ServiceSample[] = [];
  const add = (sample: ServiceSample) => {
    kept = [...kept, sample];
    if (kept.length > MAX_SAMPLES) kept = kept.filter(({ failed }, index) => failed || index % 2 === 1).slice(-MAX_SAMPLES);
  };
  notices.listen(({ name, facts }) => {
    if (name === 'poll:tick:completed') {
      add({ at: clock.now(), running: facts.running, retrying: facts.retrying, pollMs: facts.durationMs, failed: false });
    }
    if (name === 'poll:tick:failed') {
      const last = kept.at(-1);
      add({
        at: clock.now(),
        running: last?.running ?? 0,
        retrying: last?.retrying ?? 0,
        pollMs: facts.durationMs,
        failed: true,
      });
    }
  });
  return { all: () => kept };
}
