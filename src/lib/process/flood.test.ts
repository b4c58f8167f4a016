import { monitorEventLoopDelay } from 'node:perf_hooks';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { startProcess } from './spawn.ts';

const FLOOD_BYTES = 100_000_000;
/** Reading without a pause would stall for seconds; a busy machine alone stalls for tens of milliseconds. */
const LONGEST_STALL_MS = 400;

interface Reading {
  readonly lines: number;
  readonly bytes: number;
  readonly grownMb: number;
  readonly longestStallMs: number;
}

/** Reads all that a child prints while it watches memory and the event loop. */
async function readFlood(script: string): Promise<Reading> {
  const child = await startProcess({
    command: 'sh',
    args: ['-c', script],
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'] ?? '' },
  });
  const before = process.memoryUsage.rss();
  let peak = before;
  const sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
  const stalls = monitorEventLoopDelay({ resolution: 5 });
  stalls.enable();
  let [lines, bytes] = [0, 0];
  for await (const line of child.lines()) {
    lines += 1;
    bytes += line.length;
  }
  stalls.disable();
  clearInterval(sampler);
  await child.settled;
  return { lines, bytes, grownMb: (peak - before) / 1e6, longestStallMs: stalls.max / 1e6 };
}

// Another process of the machine may take the processor away for a moment: that is no stall of ours.
describe('a child that prints 100 MB', { retry: 2 }, () => {
  it.each([
    { shape: 'in lines', script: `yes "$(printf %099d 7)" | head -c ${FLOOD_BYTES}`, lines: 1_000_000, bytes: 99_000_000 },
    { shape: 'in one line', script: `head -c ${FLOOD_BYTES} /dev/zero | tr '\\0' x`, lines: 1, bytes: 10 * 1024 * 1024 },
  ])('$shape neither fills the memory nor blocks the event loop', async ({ script, lines, bytes }) => {
    const reading = await readFlood(script);
    expect(reading.lines).toBe(lines);
    expect(reading.bytes).toBeGreaterThanOrEqual(bytes);
    expect(reading.bytes).toBeLessThan(bytes + 100);
    expect(reading.grownMb).toBeLessThan(80);
    expect(reading.longestStallMs).toBeLessThan(LONGEST_STALL_MS);
  });

  it('on its error output neither fills the memory nor blocks the event loop', async () => {
    const reading = await readFlood(`yes "$(printf %099d 7)" | head -c ${FLOOD_BYTES} >&2`);
    expect(reading.lines).toBe(0);
    expect(reading.grownMb).toBeLessThan(80);
    expect(reading.longestStallMs).toBeLessThan(LONGEST_STALL_MS);
  });
});
