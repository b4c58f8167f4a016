import type { TestProxy, Matcher } from '../../support/proxy.ts';
import { workflowText, type Playground } from '../../support/daemon.ts';
import { fileStage } from './stages/file.ts';
import { graphqlStage } from './stages/linear.ts';
import { nsprojectStage } from './stages/gitlab.ts';
import { repoissuesStage } from './stages/github.ts';
import { selfhostedStage } from './stages/gitea.ts';
import { wfboardStage } from './stages/jira.ts';

/** A tracker of one kind that a daemon works on, with the hands of the people who use it. */
export interface Stage {
  readonly kind: string;
  readonly states: StageStates;
  /** Sections of the workflow file: the tracker block and the kind's own. */
  readonly sections: Readonly<Record<string, string>>;
  /** What the workflow file refers to; the daemon hides every value of it. */
  readonly env: Readonly<Record<string, string>>;
  add(issue: StageIssue): Promise<StageNames>;
  /** As people see it there. */
  stateOf(id: string): Promise<string>;
  move(id: string, state: string): Promise<void>;
  /** Closes it by the forge's own button, which leaves its labels on. Absent where closing is a move. */
  shut?(id: string): Promise<void>;
  /** Oldest first. */
  commentsOf(id: string): Promise<readonly string[]>;
  /** Nothing can be read or written until it comes back. People may go on. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /** Null where issues are no farther away than the disk. */
  readonly remote: StageRemote | null;
  close(): Promise<void>;
}

/** Spelled as the workflow file has them. `todo` and `doing` are active, `done` is terminal. */
export interface StageStates {
  readonly todo: string;
  readonly doing: string;
  readonly handoff: string;
  readonly done: string;
}

/** An issue in no vendor's words. What a kind does not have is left out there. */
export interface StageIssue {
  readonly title: string;
  readonly state: string;
  readonly author?: string;
  readonly description?: string;
  readonly labels?: readonly string[];
  readonly assignee?: string;
  readonly priority?: number;
  readonly issueType?: string;
  readonly branchName?: string;
  readonly comments?: readonly { readonly author: string; readonly body: string; readonly createdAt: string }[];
  /** Ids of earlier ones. */
  readonly blockedBy?: readonly string[];
  readonly parent?: string;
}

export interface StageNames {
  readonly id: string;
  readonly identifier: string;
}

/** What is particular about a kind's requests and answers. */
export interface StageRemote {
  readonly proxy: TestProxy;
  /** The address of the remote itself, which its answers name. */
  readonly origin: string;
  readonly isCandidates: Matcher;
  /** For one whole issue, where nothing runs that would be looked up in the same way. */
  readonly isIssue: Matcher;
  /** Of the states of what runs. */
  readonly isLookup: Matcher;
  readonly isWrite: Matcher;
  /** The list inside the answer to a request for candidates. */
  entriesOf(answer: unknown): Record<string, unknown>[];
  /** Members without which an entry is none, or is in no active state. */
  readonly essential: readonly string[];
}

export type StageBuilder = (ground: Playground) => Promise<Stage>;

/** Every kind, alphabetical. */
export const STAGES: Readonly<Record<string, StageBuilder>> = {
  file: fileStage,
  graphql: graphqlStage,
  nsproject: nsprojectStage,
  repoissues: repoissuesStage,
  selfhosted: selfhostedStage,
  wfboard: wfboardStage,
};

export const KINDS: readonly string[] = Object.keys(STAGES);
/** Those with a remote that can misbehave. */
export const REMOTE_KINDS: readonly string[] = KINDS.filter((kind) => kind !== 'file');

export function buildStage(kind: string, ground: Playground): Promise<Stage> {
  const build = STAGES[kind];
  if (!build) throw new Error(`no stage for ${kind}`);
  return build(ground);
}

export function remoteOf({ kind, remote }: Stage): StageRemote {
  if (!remote) throw new Error(`${kind} has no remote`);
  return remote;
}

/** A workflow on the stage with the mock agent, polled often; further sections may be added or replaced. */
export function stageWorkflow(stage: Stage, sections: Readonly<Record<string, string>> = {}, body?: string): string {
  const shared = {
    polling: 'interval_ms: 100',
    workspace: 'root: ws',
    agent: 'kind: mock\nmax_turns: 1\nmax_retry_backoff_ms: 200',
  };
  return workflowText({ ...stage.sections, ...shared, ...sections }, body);
}
