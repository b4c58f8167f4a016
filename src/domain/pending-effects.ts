import { change, type Draft } from './draft.ts';
import { EFFECTS, type AskedEffect, type AskedName, type Pending } from './model/effect.ts';
import type { State } from './model/state.ts';
import { withEntry, withoutEntry } from './model/versioned-map.ts';

/* What the world was asked for and has not answered yet. It is not stored: after a restart it is asked for anew. */

/** Asks for an effect unless the same one is already under way. It stays so until its answer comes. */
export function ask(draft: Draft, effect: AskedEffect): boolean {
  const subject = subjectOf(effect);
  if (isPending(draft.state, effect.do, subject)) return false;
  const { pending } = draft.state;
  change(draft, { pending: { ...pending, [effect.do]: withEntry(pending[effect.do] ?? new Map(), subject, true) } });
  draft.effects.push(effect);
  return true;
}

/** The effect was answered. */
export function settle(draft: Draft, name: AskedName, subject: string): void {
  if (isPending(draft.state, name, subject)) change(draft, { pending: without(draft.state.pending, name, subject) });
}

/** The same for a read. False when what it brings is no longer acted upon: it is asked for again where it is needed. */
export function settleRead(draft: Draft, name: AskedName, subject: string): boolean {
  settle(draft, name, subject);
  const { outdated } = draft.state;
  if (outdated[name]?.has(subject) !== true) return true;
  change(draft, { outdated: without(outdated, name, subject) });
  return false;
}

/** What is being read of the issue may be older than what happens to it now. */
export function outdateReads(draft: Draft, issueId: string): void {
  for (const name of ['read-candidate', 'read-issue'] as const) {
    const { outdated } = draft.state;
    if (!isPending(draft.state, name, issueId)) continue;
    change(draft, { outdated: { ...outdated, [name]: withEntry(outdated[name] ?? new Map(), issueId, true) } });
  }
}

function without(effects: Pending, name: AskedName, subject: string): Pending {
  return { ...effects, [name]: withoutEntry(effects[name] ?? new Map(), subject) };
}

export function isPending(state: State, name: AskedName, subject: string): boolean {
  return state.pending[name]?.has(subject) ?? false;
}

/** The kinds of effects under way that a stopping daemon waits for. */
export function pendingWrites(state: State): readonly AskedName[] {
  const names = Object.keys(state.pending) as AskedName[];
  return names.filter((name) => EFFECTS[name].isWrite && (state.pending[name]?.size ?? 0) > 0);
}

function subjectOf(effect: AskedEffect): string {
  return (EFFECTS[effect.do].subject as (effect: AskedEffect) => string)(effect);
}
