import { announce, change, putClaim, release, type Draft } from '../draft.ts';
import type { RunningClaim, WaitingClaim } from '../model/claim.ts';
import { refIn } from '../model/issue.ts';
import type { ReactionContext, ReactionKind } from '../model/reaction.ts';
import type { State } from '../model/state.ts';
import { withEntry } from '../model/versioned-map.ts';
import { problemOf, type Watch } from '../model/watch.ts';
import { isPastWindow } from './after-merge.ts';
import { whyElsewhere, whyForeign } from './managed.ts';
import { progressOf, putProgress, reasonToWait, settingsOf } from './progress.ts';
import type { Look } from './reaction.ts';
import { REACTION_KINDS, reactionOf } from './registry.ts';
import { giveToCommands } from './turns.ts';

/**
 * A turn carries what was read when it was queued. After an edit of the workflow file or a restart it begins only once its
 * request was looked at under the settings in force: they may no longer count those who asked for it.
 */
export function mayBegin(state: State, claim: WaitingClaim): boolean {
  return queuedTurn(claim) === null || state.judgedUnder.get(claim.issue.id) === state.settings;
}

/** Has the requests of queued turns looked at now. */
export function lookAgain(draft: Draft): void {
  for (const claim of draft.state.claims.values()) {
    const turn = queuedTurn(claim);
    const watch = draft.state.watches.get(claim.issue.id);
    if (turn === null || watch === undefined) continue;
    const progress = progressOf(watch, turn.kind);
    if (progress.nextAt > draft.now) putProgress(draft, claim.issue.id, turn.kind, { ...progress, nextAt: draft.now });
  }
}

/** A turn whose request nobody will look at any more is dropped. */
export function dropUnlooked(draft: Draft, claim: WaitingClaim): void {
  const turn = queuedTurn(claim);
  const watch = draft.state.watches.get(claim.issue.id);
  if (turn === null || draft.state.lifecycle !== 'serving') return;
  const isOver = watch !== undefined && isPastWindow(draft.state, watch, turn.kind, draft.now);
  const why = whyUnlooked(draft.state, claim) ?? (isOver ? 'its merge request is no longer watched for that' : null);
  if (why !== null) releaseWaiting(draft, claim, why);
}

/** Why the request of a queued turn will not be looked at, for people; null when it will. */
export function whyUnlooked(state: State, claim: WaitingClaim): string | null {
  const turn = queuedTurn(claim);
  const watch = state.watches.get(claim.issue.id);
  const { reactions } = state.settings;
  if (turn === null || state.lifecycle !== 'serving') return null;
  if (watch === undefined) return 'its merge request is no longer watched';
  if (settingsOf(reactions, turn.kind) === undefined) return `${turn.kind} is switched off`;
  return (whyElsewhere(reactions, watch) ?? whyForeign(reactions, watch.mergeRequest))?.reason ?? problemOf(watch);
}

/**
 * Holds the queued turn against a look of its own reaction: it goes on with what still counts. False when it is dropped; then
 * the next look, which is due at once, finds the issue free.
 */
export function judgeQueued(draft: Draft, watch: Watch, due: readonly ReactionKind[], look: Look): boolean {
  const claim = draft.state.claims.get(watch.issue.id);
  const turn = claim && queuedTurn(claim);
  if (claim?.phase !== 'waiting' || !turn || !due.includes(turn.kind)) return true;
  const { renew } = reactionOf(turn.kind);
  const renewed = renew ? renew(draft, watch, look, turn.context) : turn.context;
  if (renewed === 'unread') return true;
  if (renewed === null) {
    releaseWaiting(draft, claim, 'what asked for its turn is gone, was taken back or no longer counts');
    return false;
  }
  putClaim(draft, { ...claim, then: { ...turn.then, reaction: renewed } });
  change(draft, { judgedUnder: withEntry(draft.state.judgedUnder, claim.issue.id, draft.state.settings) });
  return true;
}

interface QueuedTurn {
  readonly kind: ReactionKind;
  readonly then: Extract<WaitingClaim['then'], { kind: 'run' }>;
  readonly context: ReactionContext;
}

/** The turn of a reaction that a claim waits with; null where it waits for something else. */
function queuedTurn(claim: Pick<WaitingClaim, 'then'> | { readonly phase: string }): QueuedTurn | null {
  if (!('then' in claim) || claim.then.kind !== 'run' || claim.then.reaction === null) return null;
  const { trigger, reaction } = claim.then;
  const kind = REACTION_KINDS.find((one) => one === trigger);
  return kind === undefined ? null : { kind, then: claim.then, context: reaction };
}

/** What a turn was queued for counts as given from the moment that it begins. */
export function beginTurn(draft: Draft, claim: WaitingClaim): void {
  const turn = queuedTurn(claim);
  const watch = draft.state.watches.get(claim.issue.id);
  if (turn !== null && watch !== undefined) reactionOf(turn.kind).onTurnBegun?.(draft, watch, turn.context);
}

/** Lets go of an issue that waits, and of the turn it waited with. */
export function releaseWaiting(draft: Draft, claim: WaitingClaim, why: string): void {
  const { issue, attempt } = claim;
  release(draft, issue, why);
  if (queuedTurn(claim) === null) announce(draft, 'retry:entry:dropped', { issue, attempt, reason: why });
  else dropTurn(draft, claim, why);
}

/** The same of one that is nowhere to be found. */
export function releaseGone(draft: Draft, claim: WaitingClaim): void {
  releaseWaiting(draft, { ...claim, issue: refIn(claim.issue, '') }, 'the tracker no longer has the issue');
}

/** Tells of a queued turn that does not come about. One that never began costs nothing: what it was for is queued anew. */
export function dropTurn(draft: Draft, claim: WaitingClaim, why: string): void {
  const turn = queuedTurn(claim);
  if (turn === null) return;
  const { issue, attempt } = claim;
  const { kind } = turn;
  announce(draft, 'reaction:turn:dropped', { issue, kind, why });
  const watch = draft.state.watches.get(issue.id);
  if (watch === undefined) return;
  if (attempt > watch.attempt + 1) return endTurn(draft, watch, turn);
  const progress = progressOf(watch, kind);
  const mark = reactionOf(kind).onRunEnded?.(progress.mark) ?? progress.mark;
  const waitingFor = whatNext(draft, watch);
  putProgress(draft, issue.id, kind, { ...progress, mark, used: Math.max(0, progress.used - 1), waitingFor });
  if (progress.restored === true) giveToCommands(draft, issue.id);
}

/** A run ended before its work was done, and its issue is let go or parked: it does not take up the turn of a reaction again. */
export function leaveTurn(draft: Draft, { issue, trigger, reaction }: RunningClaim): void {
  const turn = queuedTurn({ then: { kind: 'run', trigger, reaction } });
  const watch = draft.state.watches.get(issue.id);
  if (turn !== null && watch !== undefined && !draft.state.claims.has(issue.id)) endTurn(draft, watch, turn);
}

/** A turn that began is over, and costs what it cost: the same head may be judged once more, within the same budget. */
function endTurn(draft: Draft, watch: Watch, { kind, context }: QueuedTurn): void {
  const { id } = watch.issue;
  const { onRunEnded, onTurnParked } = reactionOf(kind);
  const progress = progressOf(watch, kind);
  const ended = onRunEnded?.(progress.mark) ?? progress.mark;
  const mark = draft.state.parked.has(id) ? (onTurnParked?.(ended, context) ?? ended) : ended;
  putProgress(draft, id, kind, { ...progress, mark, waitingFor: whatNext(draft, watch) });
}

function whatNext(draft: Draft, watch: Watch): string {
  return reasonToWait(draft, watch) ?? 'another look';
}
