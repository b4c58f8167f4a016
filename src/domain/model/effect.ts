import type { Handoff, OutboxEntry, WorkspaceRecord } from './claim.ts';
import type { Write } from './durable.ts';
import type { Issue, IssueRef } from './issue.ts';
import type { Notice } from './notice.ts';
import type { StopReason, Trigger } from './run.ts';
import type { Need } from './findings.ts';
import type { Settings } from './settings.ts';
import type { ReactionContext, ReactionKind } from './reaction.ts';
import type { State } from './state.ts';
import type { MergeOrder } from './merge-request.ts';
import type { MergeRequestRef, Watch } from './watch.ts';

/** Everything that must be done, as data. An interpreter carries it out. */
export type Effect =
  /** Told to all listeners, in order. */
  | { readonly do: 'announce'; readonly notice: Notice }
  /** Answered by the exit of the run. */
  | { readonly do: 'stop-run'; readonly runId: string; readonly issueId: string; readonly reason: StopReason }
  | AskedEffect;

/** Issues whose runs keep settings that are no longer in force. */
export interface OlderRuns {
  readonly settings: Settings;
  readonly ids: readonly string[];
}

/** An effect that is answered by exactly one event, also when its interpreter fails (`effect-failed`). */
export type AskedEffect =
  /**
   * Candidates, and the states of the ids given; of a tracker that is no longer watched the states alone. Those of runs
   * that began before an edit are read in the way of their own settings.
   */
  | {
      readonly do: 'poll';
      readonly lookups: readonly string[];
      readonly ofOlder?: readonly OlderRuns[];
      readonly onlyStates?: boolean;
    }
  | { readonly do: 'read-blockers'; readonly issues: readonly IssueRef[] }
  /** Gives everything else its turn before the walk over the candidates goes on. */
  | { readonly do: 'go-on' }
  /** Reads one candidate of the last poll before it takes a slot that became free. */
  | { readonly do: 'read-candidate'; readonly issue: IssueRef }
  /** Reads one waiting issue before it runs again. */
  | { readonly do: 'read-issue'; readonly issueId: string }
  | { readonly do: 'start-run'; readonly plan: RunPlan }
  | {
      readonly do: 'hand-off';
      readonly issue: IssueRef;
      readonly handoff: Handoff;
      readonly settings: Settings;
      /** An earlier try may have got half way: then the state alone does not tell that it is done. */
      readonly begun: boolean;
    }
  | { readonly do: 'write-out'; readonly entry: OutboxEntry; readonly settings: Settings }
  /** Issues already in terminal states, for workspace cleanup. */
  /** With the workspaces that we know to have made. */
  | { readonly do: 'read-terminal'; readonly states: readonly string[]; readonly workspaces: readonly WorkspaceRecord[] }
  /** States of issues whose workspaces are still here, and of those that wait in the retry queue. */
  | {
      readonly do: 'sweep';
      readonly workspaces: readonly Pick<WorkspaceRecord, 'issueId' | 'path'>[];
      readonly waiting: readonly string[];
    }
  /** One look at a merge request, for every reaction that is due. */
  | {
      readonly do: 'inspect';
      readonly watch: Watch;
      readonly due: readonly ReactionKind[];
      readonly needs: readonly Need[];
      readonly settings: Settings;
    }
  | { readonly do: 'merge'; readonly issueId: string; readonly request: MergeRequestRef; readonly order: MergeOrder }
  /** `headSha`: what was merged of it. */
  | { readonly do: 'delete-branch'; readonly issueId: string; readonly request: MergeRequestRef; readonly headSha: string }
  | { readonly do: 'remove-label'; readonly issue: IssueRef; readonly request: MergeRequestRef; readonly label: string }
  /** Moves the issue of a merged request to its last state. */
  | {
      readonly do: 'complete';
      readonly issue: IssueRef;
      readonly target: string;
      /** An earlier try may have got half way: then the state alone does not tell that it is done. */
      readonly begun: boolean;
    }
  | {
      readonly do: 'remove-workspace';
      readonly issueId: string;
      readonly identifier: string;
      readonly title: string;
      readonly why: string;
      /** Whether we know to have made one, marked or not. */
      readonly recorded: boolean;
      /** Where on this machine they are. */
      readonly paths: readonly string[];
      /** The hosts that hold one as far as we know; none for this machine. */
      readonly hosts: readonly string[];
    };

export type AskedName = AskedEffect['do'];
export type EffectNamed<Name extends AskedName> = Extract<AskedEffect, { do: Name }>;

interface EffectKind<Name extends AskedName> {
  /** What it is about: while one is under way no second is asked for the same. */
  readonly subject: (effect: EffectNamed<Name>) => string;
  /** Whether a stopping daemon waits for it. A read may be cut short, a write that may be half way through may not. */
  readonly isWrite: boolean;
}

/** One row for each effect that is answered. */
export const EFFECTS: { readonly [Name in AskedName]: EffectKind<Name> } = {
  poll: { subject: () => '', isWrite: false },
  'read-blockers': { subject: () => '', isWrite: false },
  'go-on': { subject: () => '', isWrite: false },
  'read-candidate': { subject: (effect) => effect.issue.id, isWrite: false },
  'read-issue': { subject: (effect) => effect.issueId, isWrite: false },
  'start-run': { subject: (effect) => effect.plan.runId, isWrite: true },
  'hand-off': { subject: (effect) => effect.issue.id, isWrite: true },
  'write-out': { subject: (effect) => effect.entry.id, isWrite: true },
  'read-terminal': { subject: () => '', isWrite: false },
  sweep: { subject: () => '', isWrite: false },
  inspect: { subject: (effect) => effect.watch.issue.id, isWrite: false },
  merge: { subject: (effect) => effect.issueId, isWrite: true },
  'delete-branch': { subject: (effect) => effect.issueId, isWrite: true },
  'remove-label': { subject: (effect) => `${effect.issue.id} ${effect.label}`, isWrite: true },
  complete: { subject: (effect) => effect.issue.id, isWrite: true },
  'remove-workspace': { subject: (effect) => effect.issueId, isWrite: true },
};

/** Effects under way: the subjects of each kind. */
export type Pending = { readonly [Name in AskedName]?: ReadonlyMap<string, true> };

/** All a run needs to know, frozen when it starts. */
export interface RunPlan {
  readonly runId: string;
  readonly issue: IssueRef;
  readonly attempt: number;
  readonly trigger: Trigger;
  readonly reaction: ReactionContext | null;
  /** The whole issue, where it was read just before; else the run reads it. */
  readonly issueAsRead: Issue | null;
  readonly resumeSessionId: string | null;
  /** The host that holds the issue's workspace; null for none or this machine. A run goes there where it can. */
  readonly holder: string | null;
  readonly settings: Settings;
  /** What is left of the issue's budget in US dollars; absent or null for no limit. */
  readonly costLeftUsd?: number | null;
}

/** What `decide` answers: the new state, what to store first, and then what to do. */
export interface Decision {
  readonly state: State;
  readonly writes: readonly Write[];
  readonly effects: readonly Effect[];
}
