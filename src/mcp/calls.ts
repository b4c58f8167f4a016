import type { AgentStatus } from '../domain/model/agent-event.ts';
import type { RunPlan } from '../domain/model/effect.ts';
import { TrackerError } from '../domain/model/errors.ts';
import { sameState, type Blocker, type Issue } from '../domain/model/issue.ts';
import type { Run } from '../domain/model/run.ts';
import type { Settings } from '../domain/model/settings.ts';
import { LABEL_COMMANDS } from '../domain/reactions/label-commands.ts';
import { withoutCommands } from '../domain/rules/without-commands.ts';
import { withoutControls } from '../lib/without-controls.ts';
import type { ToolCalls } from '../ports/runner.ts';
import type { Tracker } from '../ports/tracker.ts';
import { MAX_TEXT, TOOL_NAMES, TOOLS, type ToolName } from './tools.ts';

/** What the tools of one run work on. */
export interface RunContext {
  readonly plan: RunPlan;
  readonly tracker: Tracker;
  /** Takes out what nobody may read on the tracker. */
  mask(text: string): string;
  /** Records what is about to happen with the run; called before every write to the tracker. */
  record(text: string): void;
  /** The run as it is now, and the earlier ones, newest first. */
  progress(): Promise<RunProgress>;
}

/** One call: what it works on, and where the agent's word on the outcome goes. */
interface CallContext extends RunContext {
  declare(status: AgentStatus): void;
}

export interface RunProgress {
  readonly turn: number;
  readonly maxTurns: number;
  readonly attempt: number;
  readonly tokensUsed: number;
  readonly costUsd: number;
  readonly earlier: readonly Run[];
}

/** A call that cannot be answered; the text is for the agent. */
export class ToolFault extends Error {}

/** The tools of one run, with their limits. */
export function createToolCalls(context: RunContext): ToolCalls {
  const used = new Map<ToolName, number>();
  const count = (name: ToolName, limit: number): void => {
    const times = (used.get(name) ?? 0) + 1;
    if (times > limit) throw new ToolFault(`${name} may be called ${limit} times in one run; that is used up`);
    used.set(name, times);
  };
  return {
    async call(wanted, args, signal) {
      let status: AgentStatus | null = null;
      try {
        const name = toolNamed(wanted);
        const tool = TOOLS.find((candidate) => candidate.name === name);
        refuseUnknown(name, args, Object.keys(tool?.inputSchema.properties ?? {}));
        count(name, tool?.limit ?? 0);
        const data = await CALLS[name]({ ...context, declare: (told) => (status = told) }, args, signal);
        return { ok: true, data, status };
      } catch (error) {
        return { ok: false, error: toolFaultText(error) };
      }
    },
  };
}

function toolNamed(wanted: string): ToolName {
  const name = TOOL_NAMES.find((candidate) => candidate === wanted);
  if (name === undefined) throw new ToolFault(`there is no tool ${wanted.slice(0, 100)}`);
  return name;
}

/** An argument that is ignored would be taken for granted: a comment on another issue, for example. */
function refuseUnknown(name: ToolName, args: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const unknown = Object.keys(args).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const takes = known.length === 0 ? 'none' : known.join(', ');
  throw new ToolFault(`${name} has no argument ${JSON.stringify(unknown.slice(0, 100))}; it takes ${takes}`);
}

type Call = (context: CallContext, args: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<unknown>;

const CALLS: Readonly<Record<ToolName, Call>> = {
  read_issue: async ({ plan, tracker }, _args, signal) => {
    const issue = await tracker.fetchIssueById(plan.issue.id, signal);
    const approved = plan.issueAsRead?.approvable;
    // An edit that nobody approved must not reach the agent by this way either.
    if (approved && approved.digest !== issue.approvable?.digest) throw new ToolFault(CHANGED_AFTER_APPROVAL);
    return issueData(issue);
  },
  comment: async ({ plan, tracker, mask, record }, args, signal) => {
    const masked = mask(textOf(args, 'text'));
    const text = tracker.obeysComments ? withoutCommands(masked) : masked;
    record(`comment: ${text}`);
    await tracker.commentIssue(plan.issue.id, text, signal);
    return { posted: true };
  },
  move_issue: async ({ plan, tracker, record, declare }, args, signal) => {
    const state = allowedState(plan, textOf(args, 'state'));
    record(`move_issue: ${state}`);
    const { handoffState } = plan.settings.tracker;
    if (handoffState !== null && sameState(state, handoffState)) {
      // At once it would take the issue from under this very session. The handoff makes the move when the turn has ended.
      declare({ word: 'needs-human-review', statement: '' });
      return { state, note: 'the issue is moved when this turn has ended, and the session ends with it' };
    }
    await tracker.transitionIssue(plan.issue.id, state, signal);
    return { state };
  },
  add_label: async ({ plan, tracker, mask, record }, args, signal) => {
    const label = textOf(args, 'label');
    refuseReserved(plan, label);
    if (mask(label) !== label) throw new ToolFault('the label holds a secret of the service');
    if (!tracker.labels) throw new ToolFault(`the tracker kind ${tracker.kind} has no labels to add`);
    record(`add_label: ${label}`);
    await tracker.labels.add(plan.issue.id, label, signal);
    return { label };
  },
  run_status: async (context) => runStatus(context.plan, await context.progress()),
  finish: ({ record, declare }, args) => {
    const outcome = textOf(args, 'outcome');
    if (!isOutcome(outcome))
      return Promise.reject(new ToolFault('outcome must be needs-human-review, no-change-needed or blocked'));
    const statement = typeof args['statement'] === 'string' ? withoutControls(args['statement']).slice(0, MAX_TEXT) : '';
    record(`finish: ${outcome}`);
    declare({ word: outcome, statement });
    return Promise.resolve({ outcome, note: 'the session ends after this turn' });
  },
};

/** States an agent may move its issue to: those people work in, and the handoff. Never a terminal one. */
export function allowedStates(plan: RunPlan): readonly string[] {
  const { activeStates, handoffState, approvalLabel } = plan.settings.tracker;
  // Where a state is a label and this one the approval, the move would approve the issue.
  const active = activeStates.filter((state) => approvalLabel === null || !sameState(state, approvalLabel));
  return handoffState === null ? active : [...active, handoffState];
}

function allowedState(plan: RunPlan, wanted: string): string {
  const found = allowedStates(plan).find((state) => sameState(state, wanted));
  if (found === undefined) throw new ToolFault(`the issue may be moved to ${allowedStates(plan).join(', ')}; not to ${wanted}`);
  return found;
}

/** Where a state is a label, adding one is a move. Others are the word of people: it would be taken for theirs. */
function refuseReserved({ settings }: RunPlan, wanted: string): void {
  const label = wanted.trim();
  const isOne = (names: readonly (string | null)[]): boolean => names.some((name) => name && sameState(name, label));
  if (isOne([settings.tracker.approvalLabel])) throw new ToolFault(`the label ${label} approves issues, which only people do`);
  if (isOne(stateNames(settings))) throw new ToolFault(`the label ${label} stands for a state: use move_issue`);
  if (isOne(commandLabels(settings)))
    throw new ToolFault(`the label ${label} is a command to the service, which only people give`);
}

function stateNames({ tracker }: Settings): readonly (string | null)[] {
  const { activeStates, terminalStates, handoffState, inProgressState, noChangeState } = tracker;
  return [...activeStates, ...terminalStates, handoffState, inProgressState, noChangeState];
}

/** While label commands are off their usual names: they may be switched on while the label is still there. */
function commandLabels({ reactions }: Settings): readonly string[] {
  const { label_commands: written } = reactions.on;
  const { review_label: review, fix_label: fix } = LABEL_COMMANDS.keys;
  return [written?.reviewLabel ?? review.default, written?.fixLabel ?? fix.default];
}

function runStatus(plan: RunPlan, progress: RunProgress): unknown {
  const { maxTokens, maxCostUsd } = plan.settings.agent;
  const left = (limit: number, used: number): number | null => (limit > 0 ? Math.max(0, limit - used) : null);
  return {
    issue: plan.issue.identifier,
    attempt: progress.attempt,
    turn: progress.turn,
    max_turns: progress.maxTurns,
    turns_left: Math.max(0, progress.maxTurns - progress.turn),
    tokens_used: progress.tokensUsed,
    tokens_left: left(maxTokens, progress.tokensUsed),
    cost_usd: progress.costUsd,
    cost_usd_left: left(maxCostUsd, progress.costUsd),
    allowed_states: allowedStates(plan),
    earlier_attempts: progress.earlier.map(({ attempt, status, turns, startedAt, error }) => ({
      attempt,
      status,
      turns,
      started_at: new Date(startedAt).toISOString(),
      error,
    })),
  };
}

const CHANGED_AFTER_APPROVAL = 'the issue was changed after it was approved: go on with what you were given';

/** The issue in the words of the templates. */
function issueData(issue: Issue): unknown {
  const { id, identifier, title, description, priority, state, url, labels, assignee, parent } = issue;
  return {
    id,
    identifier,
    title,
    description,
    priority,
    state,
    url,
    labels,
    assignee,
    parent,
    display_identifier: issue.displayIdentifier,
    branch_name: issue.branchName,
    issue_type: issue.issueType,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    blocked_by: issue.blockedBy?.map(blockerData) ?? null,
    comments:
      issue.comments?.map(({ id: key, author, body, createdAt: at }) => ({ id: key, author, body, created_at: at })) ?? [],
  };
}

function blockerData({ id, identifier, state, displayId }: Blocker): unknown {
  return { id, identifier, state, display_id: displayId ?? '' };
}

function textOf(args: Readonly<Record<string, unknown>>, key: string): string {
  const value = typeof args[key] === 'string' ? withoutControls(args[key]) : '';
  if (value.trim() === '') throw new ToolFault(`${key} must be a text that is not empty`);
  if (value.length > MAX_TEXT) throw new ToolFault(`${key} may have ${MAX_TEXT} characters, it has ${value.length}`);
  return value;
}

function isOutcome(word: string): word is AgentStatus['word'] {
  return word === 'needs-human-review' || word === 'no-change-needed' || word === 'blocked';
}

/** What an agent is told of a failure: enough to act on, nothing of ours. */
function toolFaultText(error: unknown): string {
  if (error instanceof ToolFault) return error.message;
  if (error instanceof TrackerError) return `${error.kind}: ${error.detail}`;
  return 'the call failed for a reason outside of your reach';
}
