import { ask, isPending, settleRead } from '../pending-effects.ts';
import { change, putWatch, type Draft } from '../draft.ts';
import type { Answer, Fault } from '../model/fault.ts';
import type { Event } from '../model/event.ts';
import { stateIn } from '../model/issue.ts';
import type { CiConclusion, MergeStatus } from '../model/merge-request.ts';
import { removeWorkspaceOf } from '../workspace-records.ts';
import { noteMerged, tidyBranch } from '../reactions/branch.ts';
import type { Findings, RequestReading } from '../model/findings.ts';
import { completeMerge, noteLeft } from '../reactions/merge-completion.ts';
import { hasWorkAfterMerge, isPastWindow, mustFinishCompletion } from '../reactions/after-merge.ts';
import { lookOnceMore } from '../reactions/look-sooner.ts';
import { whyNotOurs } from '../reactions/managed.ts';
import {
  couldNotRead,
  endWatch,
  forgetUnreadable,
  noteSelf,
  progressOf,
  waitFor,
  whySelfUnknown,
} from '../reactions/progress.ts';
import { judgeQueued, releaseWaiting } from '../reactions/queued-turn.ts';
import { activeReactions, reactionOf } from '../reactions/registry.ts';
import { noteMoved } from './watching.ts';
import { checkProject, current, noteLook, noteOpen, onClosed, onMissing, refuse, restWithIssue } from '../reactions/request.ts';
import type { ReactionKind } from '../model/reaction.ts';
import type { State } from '../model/state.ts';
import type { Watch } from '../model/watch.ts';

/** Looks at the merge requests whose time has come. One look serves all reactions that are due. Without any, all stay as they are. */
export function inspectDueWatches(draft: Draft): void {
  if (activeKinds(draft.state).length === 0) return;
  for (const watch of draft.state.watches.values()) {
    checkProject(draft, watch);
    const due = dueKinds(draft.state, current(draft, watch), draft.now);
    if (due.length === 0) {
      if (isOver(draft.state, watch, draft.now)) endWatch(draft, watch, 'every watch window is over');
      continue;
    }
    const { reactions } = draft.state.settings;
    const needs = [...new Set(due.flatMap((kind) => reactionOf(kind).needs(reactions, watch)))];
    ask(draft, { do: 'inspect', watch: current(draft, watch), due, needs, settings: draft.state.settings });
  }
}

/** When the next look is due. */
export function nextInspection(state: State, watch: Watch): number {
  if (!mayLook(state, watch)) return Infinity;
  const kinds = activeKinds(state).filter((kind) => !isPastWindow(state, watch, kind, progressOf(watch, kind).nextAt));
  return kinds.reduce((earliest, kind) => Math.min(earliest, progressOf(watch, kind).nextAt), Infinity);
}

type Inspected = Extract<Event, { type: 'inspected' }>;

export function onInspected(draft: Draft, event: Inspected): void {
  takeIn(draft, event);
  lookOnceMore(draft, event.issueId);
}

function takeIn(draft: Draft, event: Inspected): void {
  if (!settleRead(draft, 'inspect', event.issueId) || draft.state.lifecycle === 'leaving') return;
  const watch = draft.state.watches.get(event.issueId);
  // A look that began before a run of ours began or ended may have seen the head before its push.
  if (!watch || watch.mergeRequest.number !== event.number) return;
  if (watch.armedAt !== event.armedAt || watch.facts.runs !== event.runs) return;
  const findings = { ...event.findings, merge: wholeOf(event.findings.merge) };
  const issueState = findings.issueState.ok ? (findings.issueState.value ?? '') : '';
  if (stateIn(draft.state.settings.tracker.terminalStates, issueState))
    return afterTerminal(draft, watch, { ...event, findings }, issueState);
  // One that the tracker tells no state of is somewhere else, too: no turn could begin from there.
  if (findings.issueState.ok) putWatch(draft, { ...watch, issue: { ...watch.issue, state: issueState } });
  if (issueState !== '') noteLeft(draft, current(draft, watch), issueState);
  noteMoved(draft, watch.issue.id, issueState);
  if (!findings.merge.ok) return couldNotLook(draft, watch, event.due, findings.merge.fault);
  if (isReadable(findings)) forgetUnreadable(draft, watch, event.due);
  judge(draft, watch, findings.merge.value, findings, event.due);
}

/** Every request has a source branch: an answer without one was cut short, and proves nothing of the request. */
function wholeOf(merge: Findings['merge']): Findings['merge'] {
  if (!merge.ok || merge.value === null || merge.value.headBranch !== '') return merge;
  const message = 'the forge does not name the source branch of the merge request';
  return { ok: false, fault: { kind: 'tracker_payload_error', message, consequence: 'back-off' } };
}

/** An account that the forge will never tell is nothing that could be read. */
function isReadable({ self, ...rest }: Findings): boolean {
  return whySelfUnknown(self) === null && Object.values(rest).every((answer: Answer<unknown>) => answer.ok);
}

function couldNotLook(draft: Draft, watch: Watch, due: readonly ReactionKind[], fault: Fault): void {
  for (const kind of due) couldNotRead(draft, current(draft, watch), kind, fault);
}

/** The issue is over. Where a merge of ours is why, what belongs to it is still done: the branch, and the whole move. */
function afterTerminal(draft: Draft, watch: Watch, { findings, due }: Inspected, issueState: string): void {
  const { merge } = findings;
  if (merge.ok && merge.value?.merged && whyNotOurs(draft.state.settings.reactions, watch.mergeRequest, merge.value) === null) {
    noteMerged(draft, watch, merge.value);
  }
  const noted = current(draft, watch);
  if (hasWorkAfterMerge(draft.state, noted, issueState)) {
    if (!merge.ok) return couldNotLook(draft, noted, due, merge.fault);
    if (merge.value?.merged && finish(draft, noted, merge.value, issueState)) return restAfterMerge(draft, noted, due);
  }
  endWatch(draft, watch, 'the issue is terminal');
  removeWorkspaceOf(draft, watch.issue, 'the issue is terminal');
}

/** True while a merge of ours leaves something to do. */
function finish(draft: Draft, watch: Watch, merge: MergeStatus, issueState: string): boolean {
  if (tidyBranch(draft, watch, merge)) return true;
  return mustFinishCompletion(draft.state, watch, issueState) && completeMerge(draft, watch);
}

function judge(draft: Draft, watch: Watch, merge: MergeStatus | null, findings: Findings, due: readonly ReactionKind[]): void {
  if (merge === null) return onMissing(draft, watch, due);
  const refusal = whyNotOurs(draft.state.settings.reactions, watch.mergeRequest, merge);
  if (refusal !== null) return refuse(draft, current(draft, watch), refusal);
  noteLook(draft, watch, merge);
  noteSelf(draft, findings.self);
  change(draft, {
    readings: new Map(draft.state.readings).set(watch.issue.id, readingOf(draft, watch.issue.id, merge, findings)),
  });
  if (merge.merged) {
    afterMerge(draft, current(draft, watch), merge);
    return restAfterMerge(draft, watch, due);
  }
  if (merge.closed) {
    dropQueuedTurn(draft, watch, 'its merge request is closed');
    return onClosed(draft, current(draft, watch), due);
  }
  noteOpen(draft, current(draft, watch));
  if (findings.issueClosed) {
    dropQueuedTurn(draft, watch, 'the issue is closed');
    return restWithIssue(draft, current(draft, watch), due, 'reaction:issue:closed');
  }
  if (findings.issueState.ok && findings.issueState.value === null) {
    dropQueuedTurn(draft, watch, 'the tracker no longer has the issue');
    return restWithIssue(draft, current(draft, watch), due, 'reaction:issue:gone');
  }
  const look = { merge, findings };
  if (!judgeQueued(draft, current(draft, watch), due, look)) return;
  for (const kind of due) reactionOf(kind).judge(draft, current(draft, watch), look);
}

/**
 * Merged: tidy up, then complete the issue, then stop watching. One after the other, since a completed issue is no
 * longer looked at: a crash in between would forget its branch.
 */
function afterMerge(draft: Draft, watch: Watch, merge: MergeStatus): void {
  dropQueuedTurn(draft, watch, 'its merge request is merged');
  noteMerged(draft, watch, merge);
  if (tidyBranch(draft, current(draft, watch), merge)) return;
  if (!completeMerge(draft, current(draft, watch))) endWatch(draft, current(draft, watch), 'merged');
}

/** What has nothing to judge any more waits along with what is still to be done. */
function restAfterMerge(draft: Draft, watch: Watch, due: readonly ReactionKind[]): void {
  const idle = due.filter((kind) => progressOf(current(draft, watch), kind).nextAt <= draft.now);
  for (const kind of idle) waitFor(draft, current(draft, watch), kind, 'what is left to do after the merge');
}

/** A turn that has not begun would work on what is over. */
function dropQueuedTurn(draft: Draft, { issue }: Watch, why: string): void {
  const claim = draft.state.claims.get(issue.id);
  if (claim?.phase !== 'waiting' || claim.then.kind !== 'run' || claim.then.reaction === null) return;
  releaseWaiting(draft, claim, why);
}

function dueKinds(state: State, watch: Watch, now: number): readonly ReactionKind[] {
  if (!mayLook(state, watch)) return [];
  return activeKinds(state).filter((kind) => progressOf(watch, kind).nextAt <= now && !isPastWindow(state, watch, kind, now));
}

function mayLook(state: State, watch: Watch): boolean {
  if (watch.facts.standing.is === 'unmanaged') return false;
  return !isPending(state, 'inspect', watch.issue.id) && !isActedOn(state, watch);
}

/** While a merge, a branch deletion or a completion is under way nothing is judged anew. */
function isActedOn(state: State, watch: Watch): boolean {
  return (['merge', 'delete-branch', 'complete'] as const).some((name) => isPending(state, name, watch.issue.id));
}

function activeKinds({ settings }: State): readonly ReactionKind[] {
  return activeReactions(settings.reactions).map(({ kind }) => kind);
}

function isOver(state: State, watch: Watch, now: number): boolean {
  if (isActedOn(state, watch)) return false;
  return activeKinds(state).every((kind) => isPastWindow(state, watch, kind, now));
}

function readingOf(draft: Draft, issueId: string, merge: MergeStatus, findings: Findings): RequestReading {
  const { decision, ciStatus, ci } = findings;
  const before = draft.state.readings.get(issueId);
  const last = before?.headSha === merge.headSha ? before : undefined;
  return {
    at: draft.now,
    headSha: merge.headSha,
    url: merge.url,
    mergeability: merge.mergeability,
    decision: decision?.ok ? decision.value : (last?.decision ?? ''),
    ci: ci?.ok ? ci.value.status : ciStatus?.ok ? wordFor(ciStatus.value) : (last?.ci ?? ''),
    merged: merge.merged,
    draft: merge.draft,
  };
}

/** For people a failure is one, whatever the forge shows it as. */
function wordFor(conclusion: CiConclusion): string {
  return conclusion === 'failing-unseen' ? 'failing' : conclusion || 'none';
}
