import type { Effect } from '../../domain/model/effect.ts';
import { crashPoint } from '../../lib/crash-point.ts';
import type { LoopDeps } from '../../orchestrator/loop.ts';

/** The loop's steps as places to crash at: before and after each unit of work is stored, and around each effect. */
export function withCrashPoints(deps: LoopDeps): LoopDeps {
  return {
    ...deps,
    store: {
      ...deps.store,
      async apply(writes) {
        const what = [...new Set(writes.map(({ write }) => write))].toSorted().join('+');
        crashPoint(`before storing ${what}`);
        await deps.store.apply(writes);
        crashPoint(`after storing ${what}`);
      },
    },
    interpret(effect) {
      if (isAsked(effect)) crashPoint(`before ${effect.do}`);
      deps.interpret(effect);
      if (isAsked(effect)) crashPoint(`after asking for ${effect.do}`);
    },
  };
}

function isAsked(effect: Effect): boolean {
  return effect.do !== 'announce';
}
