import { costLeft } from '../rules/budget.ts';
import { ask, outdateReads } from '../pending-effects.ts';
import { announce, change, putClaim, putLive, putRun, queueWrite, type Draft } from '../draft.ts';
import { workspacesOf } from '../workspace-records.ts';
import type { Issue, IssueRef } from '../model/issue.ts';
import { hostPathOf } from '../model/host-path.ts';
import type { ReactionContext } from '../model/reaction.ts';
import type { Run, RunStatus, Trigger } from '../model/run.ts';
import { withEntry, withoutEntry } from '../model/versioned-map.ts';
import { settingsFor, NO_SESSION, type Live } from '../model/state.ts';
import { countSession } from './spent.ts';
import { noteMoved, noteRun } from './watching.ts';

/** What a new run carries over from the claim it belongs to. */
export interface RunStart {
  readonly attempt: number;
  readonly failures: number;
  readonly refusals: number;
  readonly trigger: Trigger;
  readonly sessionId: string | null;
  readonly reaction: ReactionContext | null;
}

/** The start of an issue that nobody worked on before. */
export const FIRST_START: RunStart = {
  attempt: 0,
  failures: 0,
  refusals: 0,
  trigger: 'fresh',
  sessionId: null,
  reaction: null,
};

/** Claims the issue and starts a session for it. The claim and the run are stored before anything is done. */
export function startRun(draft: Draft, issue: IssueRef, start: RunStart, issueAsRead: Issue | null = null): void {
  const runsStarted = draft.state.runsStarted + 1;
  const runId = `${draft.state.instance}-${runsStarted}`;
  const { holds, endingElsewhere } = draft.state;
  change(draft, {
    runsStarted,
    holds: withoutEntry(holds, issue.id),
    endingElsewhere: withoutEntry(endingElsewhere, issue.id),
  });
  outdateReads(draft, issue.id);
  noteMoved(draft, issue.id, issue.state);
  putClaim(draft, { phase: 'running', issue, runId, since: draft.now, stoppedBy: null, ...start });
  const live = freshLive(draft, issue, runId, start);
  change(draft, { runSettings: withEntry(draft.state.runSettings, issue.id, draft.state.settings) });
  putLive(draft, live);
  noteRun(draft, issue.id);
  putRun(draft, runOf(draft, live, start.trigger, 'running', null));
  countSession(draft, issue.id);
  const agentKind = draft.state.settings.agent.kind;
  announce(draft, 'issue:dispatch:started', { issue, runId, attempt: start.attempt, trigger: start.trigger, agentKind });
  if (draft.state.settings.tracker.comments.onDispatch && !isResumed(start)) {
    queueWrite(draft, issue, `dispatch:${runId}`, { kind: 'comment', text: `Foray started work on this issue (run ${runId}).` });
  }
  const { attempt, trigger, reaction } = start;
  ask(draft, {
    do: 'start-run',
    plan: {
      runId,
      issue,
      attempt,
      trigger,
      reaction,
      issueAsRead,
      resumeSessionId: start.sessionId,
      holder: holderOf(draft, issue.id),
      settings: draft.state.settings,
      costLeftUsd: costLeft(draft.state, issue.id),
    },
  });
}

/** Whether it goes on where a restart or a limit cut a run short, which was told. Only a limit is an error that counts no failure. */
function isResumed({ trigger, failures }: RunStart): boolean {
  return trigger === 'restart' || (trigger === 'error' && failures === 0);
}

/** The host of the workspace that was used last. */
function holderOf(draft: Draft, issueId: string): string | null {
  const [last] = [...workspacesOf(draft.state, issueId)].sort((a, b) => b.lastUsedAt - a.lastUsedAt);
  return last === undefined ? null : hostPathOf(last.path).host;
}

/** The history row of a live session. */
export function runOf(draft: Draft, live: Live, trigger: Trigger, status: RunStatus, error: string | null): Run {
  return {
    id: live.runId,
    issue: live.issue,
    attempt: live.attempt,
    trigger,
    agentKind: settingsFor(draft.state, live.issue.id).agent.kind,
    status,
    startedAt: live.startedAt,
    endedAt: status === 'running' ? null : draft.now,
    turns: live.turn,
    sessionId: live.sessionId,
    workspacePath: live.workspacePath,
    model: live.model,
    tokens: live.tokens,
    tokensMeasured: live.tokensMeasured,
    costUsd: live.costUsd,
    error,
  };
}

function freshLive(draft: Draft, issue: IssueRef, runId: string, start: RunStart): Live {
  const { now } = draft;
  return {
    ...NO_SESSION,
    issue,
    runId,
    attempt: start.attempt,
    pickedFrom: issue.state,
    startedAt: now,
    lastEventAt: now,
    savedAt: now,
  };
}
