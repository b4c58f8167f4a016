import type { AgentPause } from './claim.ts';
import type { AgentEvent, AgentStatus, ScmRecord } from './agent-event.ts';
import type { Fault, Answer } from './fault.ts';
import type { AskedEffect, AskedName } from './effect.ts';
import type { Blocker, Issue, IssueRef } from './issue.ts';
import type { Told } from './notification.ts';
import type { AskedRequest, OperatorPause } from './operator.ts';
import type { Quota } from './quota.ts';
import type { ExitKind, Spent } from './run.ts';
import type { Findings } from './findings.ts';
import type { Settings } from './settings.ts';
import type { ReactionKind } from './reaction.ts';

/** What is known of an issue whose workspace may go. */
export type TerminalIssue = Pick<Issue, 'id' | 'identifier' | 'title' | 'state'>;

/** Everything that happens. Events of a run carry its id, so that a late word of an ended run is recognized. */
export type Event =
  /** Time passed: look at what is due. */
  | { readonly type: 'clock' }
  /** The wall clock was set forward, or back by a negative amount. */
  | { readonly type: 'clock-jumped'; readonly byMs: number }
  /** The process did not run for so long: it was suspended, or had no processor. */
  | { readonly type: 'woke-late'; readonly byMs: number }
  /** The workflow file was edited. `isSame` where it says what it said before, such as after an edit of a comment. */
  | { readonly type: 'settings-changed'; readonly settings: Settings; readonly isSame?: boolean }
  /** Another tracker is watched from here on. */
  | { readonly type: 'tracker-left' }
  /** How many sessions run for trackers watched before. */
  | { readonly type: 'sessions-elsewhere'; readonly running: number }
  /** A run for another tracker met its agent's limit. */
  | { readonly type: 'agent-paused'; readonly pause: AgentPause }
  /** The limit of an agent lifted, or a person knows better, while another tracker was watched. */
  | { readonly type: 'agent-resumed'; readonly agentKind: string }
  /** An operator paused or resumed the service while another tracker was watched. */
  | { readonly type: 'service-paused'; readonly pause: OperatorPause | null }
  /** What was told of things that last, while another tracker was watched. */
  | { readonly type: 'news-told'; readonly told: readonly Told[] }
  /** A poll is wanted now. One that a person wants comes even where the tracker's quota has others wait. */
  | { readonly type: 'refresh-requested'; readonly byPerson: boolean }
  /** The tracker asked to be left alone for a while. */
  | { readonly type: 'polls-postponed'; readonly byMs: number; readonly error: string; readonly remedy: string | null }
  /** What is left of the remotes' budgets, all that is known of them. */
  | { readonly type: 'quotas-read'; readonly quotas: readonly Quota[] }
  /** The tracker or forge says that something changed there. */
  | { readonly type: 'webhook-received' }
  | { readonly type: 'stop-requested' }
  | { readonly type: 'operator-asked'; readonly asked: AskedRequest }
  | {
      readonly type: 'poll-answered';
      /** In the order of dispatch. */
      readonly candidates: Answer<readonly Issue[]>;
      readonly states: Answer<ReadonlyMap<string, string>>;
      /** Of ids that another tracker than the present one was asked for; none unless given. */
      readonly olderStates?: readonly { readonly ids: readonly string[]; readonly states: Answer<ReadonlyMap<string, string>> }[];
      /** Of these nobody can say just now whether they are there: they stay as they are. */
      readonly unknown?: ReadonlySet<string>;
      readonly preflightProblem: string | null;
      /** What is stored of the candidates' use of their budgets; none of it unless given. */
      readonly spent?: readonly Spent[];
    }
  | { readonly type: 'blockers-answered'; readonly blockers: ReadonlyMap<string, Answer<readonly Blocker[]>> }
  | { readonly type: 'went-on' }
  | { readonly type: 'candidate-read'; readonly issueId: string; readonly issue: Answer<Issue | null> }
  | { readonly type: 'issue-read'; readonly issueId: string; readonly issue: Answer<Issue | null> }
  | { readonly type: 'run-prepared'; readonly issueId: string; readonly runId: string; readonly workspacePath: string }
  /** Where the workspace is or will be, known before it is prepared. */
  | {
      readonly type: 'workspace-chosen';
      readonly issueId: string;
      readonly runId: string;
      readonly workspacePath: string;
      /** The host that the run was given to; absent for this machine. */
      readonly host?: string;
    }
  /** The issue's state as the run itself saw or set it. */
  | { readonly type: 'state-seen'; readonly issueId: string; readonly runId: string; readonly state: string }
  | { readonly type: 'session-started'; readonly issueId: string; readonly runId: string; readonly sessionId: string }
  | {
      readonly type: 'turn-started';
      readonly issueId: string;
      readonly runId: string;
      readonly turn: number;
      /** What the agent is told; absent where nobody records it. */
      readonly prompt?: string;
    }
  | { readonly type: 'turn-completed'; readonly issueId: string; readonly runId: string; readonly turn: number }
  | { readonly type: 'agent-spoke'; readonly issueId: string; readonly runId: string; readonly event: AgentEvent }
  | { readonly type: 'run-exited'; readonly issueId: string; readonly runId: string; readonly exit: RunExit }
  | { readonly type: 'handoff-answered'; readonly issueId: string; readonly runId: string; readonly outcome: HandoffOutcome }
  | { readonly type: 'outbox-answered'; readonly id: string; readonly fault: Fault | null }
  | { readonly type: 'cleanup-answered'; readonly issues: Answer<readonly TerminalIssue[]> }
  | {
      readonly type: 'sweep-answered';
      readonly states: Answer<ReadonlyMap<string, string>>;
      /** Workspaces that are no longer there. */
      readonly missing: readonly string[];
      /** Those that were asked about because they wait. */
      readonly waiting: readonly string[];
    }
  | {
      readonly type: 'inspected';
      readonly issueId: string;
      readonly number: number;
      /** Of the watch that was looked at: a run that ended meanwhile began another one. */
      readonly armedAt: number;
      readonly runs: number;
      readonly due: readonly ReactionKind[];
      readonly findings: Findings;
    }
  | { readonly type: 'merge-answered'; readonly issueId: string; readonly expectedSha: string; readonly outcome: MergeOutcome }
  | { readonly type: 'branch-deleted'; readonly issueId: string; readonly fault: Fault | null }
  | { readonly type: 'label-removed'; readonly issue: IssueRef; readonly label: string; readonly fault: Fault | null }
  | { readonly type: 'completion-answered'; readonly issueId: string; readonly fault: Fault | null }
  | {
      readonly type: 'workspace-removed';
      readonly issueId: string;
      readonly identifier: string;
      readonly path: string;
      readonly why: string;
      /** Where a directory that nobody marked was moved to, or null. */
      readonly aside: string | null;
      readonly outcome: Answer<boolean>;
    }
  /** An effect could not be carried out: stands for the answer it should have had. */
  | { readonly type: 'effect-failed'; readonly effect: AskedEffect; readonly fault: Fault };

/** The event that answers each effect. */
interface AnswerTypes {
  readonly poll: 'poll-answered';
  readonly 'read-blockers': 'blockers-answered';
  readonly 'go-on': 'went-on';
  readonly 'read-candidate': 'candidate-read';
  readonly 'read-issue': 'issue-read';
  readonly 'start-run': 'run-exited';
  readonly 'hand-off': 'handoff-answered';
  readonly 'write-out': 'outbox-answered';
  readonly 'read-terminal': 'cleanup-answered';
  readonly sweep: 'sweep-answered';
  readonly inspect: 'inspected';
  readonly merge: 'merge-answered';
  readonly 'delete-branch': 'branch-deleted';
  readonly 'remove-label': 'label-removed';
  readonly complete: 'completion-answered';
  readonly 'remove-workspace': 'workspace-removed';
}

export type EventNamed<Type extends Event['type']> = Extract<Event, { type: Type }>;
export type AnswerTo<Name extends AskedName> = EventNamed<AnswerTypes[Name]>;

/** What a run tells of itself, from wherever it lives. The last one is its exit. */
export type RunReport = EventNamed<
  | 'workspace-chosen'
  | 'run-prepared'
  | 'state-seen'
  | 'session-started'
  | 'turn-started'
  | 'turn-completed'
  | 'agent-spoke'
  | 'run-exited'
>;

export interface RunExit {
  readonly kind: ExitKind;
  readonly turns: number;
  readonly fault: Fault | null;
  readonly status: AgentStatus | null;
  readonly scm: ScmRecord | null;
}

/** Of a run that failed before it had a turn, or of which nothing else is known. */
export function failedExit(fault: Fault): RunExit {
  return { kind: 'error', turns: 0, fault, status: null, scm: null };
}

export type MergeOutcome =
  /** Also where it was answered by an error and is done: that counts as ours. */
  | { readonly kind: 'merged' }
  /** Handed to the forge's own queue, which merges it later. */
  | { readonly kind: 'queued' }
  /** The forge asks to come again, or the head is another one by now: nothing was decided. */
  | { readonly kind: 'postponed'; readonly why: string }
  /** `unsure`: the answer does not tell that nothing was merged, or will be. */
  | { readonly kind: 'refused'; readonly fault: Fault; readonly unsure: boolean };

export type HandoffOutcome =
  | { readonly kind: 'succeeded' }
  /** The issue already left the active states; it is not overwritten. */
  | { readonly kind: 'moved'; readonly state: string }
  | { readonly kind: 'terminal'; readonly state: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly fault: Fault };
