import { isPending } from '../pending-effects.ts';
import { change, putWatch, type Draft } from '../draft.ts';
import type { ReactionBase, ReactionKind } from '../model/reaction.ts';
import type { ReactionSettings } from '../model/settings.ts';
import { withEntry, withoutEntry } from '../model/versioned-map.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';
import { progressOf, putProgress, settingsOf } from './progress.ts';
import { activeReactions } from './registry.ts';
import { restsWithRequest } from './request.ts';

/** A check this close is left alone: two readings that must lie apart still do. */
const SOON_MS = 5_000;

/** Requests that are looked at before their time come one after the other: there may be very many. */
const APART_MS = 50;

/** Something changed: its request is looked at now, and once more after a look under way, which may have read before that. */
export function lookNow(draft: Draft, watch: Watch): void {
  const { id } = watch.issue;
  if (isPending(draft.state, 'inspect', id))
    change(draft, { changedSinceLook: withEntry(draft.state.changedSinceLook, id, true) });
  bringForward(draft, watch);
}

/** A look ended: another one follows at once where something changed meanwhile. */
export function lookOnceMore(draft: Draft, issueId: string): void {
  const { changedSinceLook, watches } = draft.state;
  const watch = watches.get(issueId);
  if (watch === undefined || !changedSinceLook.has(issueId)) return;
  change(draft, { changedSinceLook: withoutEntry(changedSinceLook, issueId) });
  bringForward(draft, watch);
}

function bringForward(draft: Draft, watch: Watch): void {
  const entries = Object.entries<ReactionProgress>(watch.reactions);
  const isLate = (progress: ReactionProgress): boolean => mayComeSooner(watch, progress, draft.now);
  if (!entries.some(([, progress]) => isLate(progress))) return;
  const reactions = entries.map(([kind, progress]) => [kind, isLate(progress) ? { ...progress, nextAt: draft.now } : progress]);
  putWatch(draft, { ...watch, reactions: Object.fromEntries(reactions) as Watch['reactions'] });
}

/** Not after a failed read: the remote may have asked us to wait. */
function mayComeSooner(watch: Watch, progress: ReactionProgress, now: number): boolean {
  const hasFailed = progress.failures > 0 && !restsWithRequest(watch, progress);
  return !hasFailed && progress.nextAt > now + SOON_MS;
}

/** After an edit: a reaction that is told something else looks now, and one whose interval alone is another within that. */
export function lookAfterEdit(draft: Draft, before: ReactionSettings): void {
  const { reactions } = draft.state.settings;
  lookSooner(draft, (kind) => {
    const [was, is] = [settingsOf(before, kind), settingsOf(reactions, kind)];
    if (is === undefined) return Infinity;
    if (was === undefined || !isSameBut(was, is)) return draft.now;
    return was.pollIntervalMs === is.pollIntervalMs ? Infinity : draft.now + is.pollIntervalMs;
  });
}

/** After a start: no look is further ahead than its interval, which may have been another one when it was planned. */
export function lookWithinInterval(draft: Draft): void {
  const { reactions } = draft.state.settings;
  lookSooner(draft, (kind) => draft.now + (settingsOf(reactions, kind)?.pollIntervalMs ?? Infinity));
}

function lookSooner(draft: Draft, latest: (kind: ReactionKind) => number): void {
  const bounds = activeReactions(draft.state.settings.reactions).map(({ kind }) => ({ kind, bound: latest(kind) }));
  let moved = 0;
  for (const watch of draft.state.watches.values()) {
    const late = bounds.filter(({ kind, bound }) => progressOf(watch, kind).nextAt > Math.max(bound, draft.now + SOON_MS));
    for (const { kind, bound } of late) {
      const progress = progressOf(watch, kind);
      const nextAt = Math.min(progress.nextAt, bound + moved * APART_MS);
      putProgress(draft, watch.issue.id, kind, { ...progress, nextAt });
    }
    if (late.length > 0) moved += 1;
  }
}

/** Whether nothing but the interval may be another. */
function isSameBut(was: ReactionBase, is: ReactionBase): boolean {
  return JSON.stringify({ ...was, pollIntervalMs: 0 }) === JSON.stringify({ ...is, pollIntervalMs: 0 });
}
