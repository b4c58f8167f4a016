import type { Chance } from '../../support/random.ts';
import type { Actor, Timeline } from './timeline.ts';

/** What became of a question to the database: answered, or the connection broke and only the server knows. */
export type Answered<T> = { readonly ok: true; readonly value: T } | { readonly ok: false };

/** The ways between processes and the database: slow, cut and healed, losing questions and answers. */
export interface Wire {
  /** Asks the database once. Whoever is cut off learns so after a while, or never of an answer that was under way. */
  ask<T>(actor: Actor, atServer: () => T, heard: (answer: Answered<T>) => void): void;
  /** The same until it was heard; what is repeated must be harmless. */
  askUntilHeard<T>(actor: Actor, atServer: () => T, heard: (value: T) => void): void;
}

const TIMEOUT_MS = 5_000;
const AGAIN_MS = 500;

export function createWire(timeline: Timeline, chance: Chance): Wire {
  const isCut = ({ cutUntil }: Actor): boolean => cutUntil > timeline.now();

  function ask<T>(actor: Actor, atServer: () => T, heard: (answer: Answered<T>) => void): void {
    const lost = (): void => timeline.after(chance.happens(0.5) ? 10 : TIMEOUT_MS, actor, () => heard({ ok: false }));
    if (isCut(actor)) return lost();
    const { life } = actor;
    // The question is under way: the server hears it even if whoever asked has ended or stands still meanwhile.
    timeline.after(1 + chance.below(20), null, () => {
      if (isCut(actor)) return void (actor.isAlive && actor.life === life && lost());
      const value = atServer();
      if (!actor.isAlive || actor.life !== life) return;
      timeline.after(1 + chance.below(20), actor, () => heard(isCut(actor) ? { ok: false } : { ok: true, value }));
    });
  }

  function askUntilHeard<T>(actor: Actor, atServer: () => T, heard: (value: T) => void): void {
    ask(actor, atServer, (answer) => {
      if (answer.ok) heard(answer.value);
      else timeline.after(AGAIN_MS, actor, () => askUntilHeard(actor, atServer, heard));
    });
  }

  return { ask, askUntilHeard };
}
