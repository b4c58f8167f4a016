import type { RunEvent } from '../../domain/model/run.ts';
import type { State } from '../../domain/model/state.ts';
import type { Store } from '../../ports/store.ts';

type FoundRun = Awaited<ReturnType<Store['findRun']>>;

/**
 * A run under way is stored every few seconds; what its agent said since then is known to its session alone. So a reader
 * gets both.
 */
export function findLiveRun(store: Pick<Store, 'findRun'>, states: () => readonly State[]): Store['findRun'] {
  return async (id) => withUnsaved(await store.findRun(id), id, states());
}

function withUnsaved(found: FoundRun, id: string, states: readonly State[]): FoundRun {
  if (found === null) return null;
  const unsaved = states.flatMap(({ live }) => [...live.values()].find(({ runId }) => runId === id)?.unsavedEvents ?? []);
  const since = unsaved[0]?.at ?? Infinity;
  // A save may have come between the two looks.
  const stored = new Set(found.events.filter(({ at }) => at >= since).map(keyOf));
  const fresh = unsaved.filter((event) => !stored.has(keyOf(event)));
  return fresh.length === 0 ? found : { ...found, events: [...found.events, ...fresh] };
}

function keyOf({ at, type, text }: RunEvent): string {
  return `${at} ${type} ${text}`;
}
