import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longer than this in one go, and requests that wait for an answer would feel it. */
const SLICE_MS = 8;

/** Maps a long list and lets other work in between. */
export async function mapInSlices<In, Out>(items: readonly In[], map: (item: In) => Out, signal: AbortSignal): Promise<Out[]> {
  const results: Out[] = [];
  let resumedAt = performance.now();
  for (const item of items) {
    results.push(map(item));
    if (performance.now() - resumedAt <= SLICE_MS) continue;
    await nextTurn();
    signal.throwIfAborted();
    resumedAt = performance.now();
  }
  return results;
}
