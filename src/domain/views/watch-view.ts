import { isPastWindow } from '../reactions/after-merge.ts';
import { settingsOf } from '../reactions/progress.ts';
import type { RequestReading } from '../model/findings.ts';
import type { ReactionKind } from '../model/reaction.ts';
import type { State } from '../model/state.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';

/** A watched merge request with the last look at it. */
export interface WatchView extends Omit<Watch, 'reactions'> {
  readonly reactions: Readonly<Partial<Record<ReactionKind, ReactionView>>>;
  readonly reading: RequestReading | null;
}

/** How far a reaction has come, and what it waits for now. */
export interface ReactionView extends Omit<ReactionProgress, 'nextAt'> {
  /** Null where no look will follow. */
  readonly nextAt: number | null;
}

export function watchView(state: State, watch: Watch, now: number): WatchView {
  const kinds = Object.entries<ReactionProgress>(watch.reactions) as [ReactionKind, ReactionProgress][];
  const reactions = Object.fromEntries(kinds.map(([kind, progress]) => [kind, reactionView(state, watch, kind, progress, now)]));
  return { ...watch, reactions, reading: state.readings.get(watch.issue.id) ?? null };
}

function reactionView(state: State, watch: Watch, kind: ReactionKind, progress: ReactionProgress, now: number): ReactionView {
  const end = whyAtRest(state, watch, kind, now);
  if (end !== null) return { ...progress, waitingFor: `nothing: ${end}`, nextAt: null };
  return watch.facts.standing.is === 'unmanaged' ? { ...progress, nextAt: null } : progress;
}

/** What it once waited for no longer matters; null while it looks at the request. */
function whyAtRest(state: State, watch: Watch, kind: ReactionKind, now: number): string | null {
  if (settingsOf(state.settings.reactions, kind) === undefined) return 'it is switched off';
  return isPastWindow(state, watch, kind, now) ? 'its watch window is over' : null;
}
