import type { Effect } from '../../domain/model/effect.ts';
import type { WritePermission } from '../../ports/runtime.ts';

/**
 * Effects are carried out while this daemon leads. One that slept and wakes up does nothing of what it had in mind: the
 * one that leads by now decides anew.
 */
export function whileLeading(leading: WritePermission | null, interpret: (effect: Effect) => void): (effect: Effect) => void {
  if (leading === null) return interpret;
  return (effect) => {
    if (effect.do === 'announce') return interpret(effect);
    leading.confirm().then(
      () => interpret(effect),
      // Ending a session is always right.
      () => (effect.do === 'stop-run' ? interpret(effect) : undefined),
    );
  };
}
