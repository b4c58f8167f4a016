import type { Clock } from '../../ports/runtime.ts';

/** When this process started, whatever it did since: one that stood by before it led, or looks again and again, is no younger. */
export function processStart(clock: Clock): number {
  return clock.now() - Math.round(process.uptime() * 1000);
}
