import type { RunPlan } from '../../../domain/model/effect.ts';
import { FaultError, type Fault } from '../../../domain/model/fault.ts';
import { countClosed } from '../../../domain/model/issue.ts';
import type { Carrier, PushAnswer } from '../../../ports/carrier.ts';
import type { PushValue, RunAnswer, RunRequest } from '../../../ports/run-queue.ts';
import type { ToolCalls } from '../../../ports/runner.ts';
import type { Tracker } from '../../../ports/tracker.ts';
import { toldAnswer } from '../wire-errors.ts';

/** What a run on a worker is answered with. */
export interface AnsweredParts {
  readonly tracker: Tracker;
  /** The agent's tools, carried out here; null where there are none. */
  readonly tools: ToolCalls | null;
  /** Reaches the repository for it; null where hooks fill the workspaces. */
  readonly carrier: (Carrier & { close(): Promise<void> }) | null;
}

interface Asking extends AnsweredParts {
  readonly plan: RunPlan;
}

/** Answers what a run asks. The same rules as for a run on this machine: its own issue and nothing else. */
export function answerRun(asking: Asking, request: RunRequest, signal: AbortSignal): Promise<RunAnswer> {
  return toldAnswer(() => valueFor(asking, request, signal));
}

async function valueFor(asking: Asking, request: RunRequest, signal: AbortSignal): Promise<unknown> {
  const { plan, tracker, tools } = asking;
  const { id } = plan.issue;
  switch (request.ask) {
    case 'issue':
      return tracker.fetchIssueById(id, signal);
    case 'state':
      return stateOf(asking, request.tellClosed === true, signal);
    case 'move':
      if (request.state !== plan.settings.tracker.inProgressState) throw new FaultError(notAllowed(request.state));
      await tracker.transitionIssue(id, request.state, signal);
      return null;
    case 'tool':
      if (tools === null) throw new FaultError(noTools());
      return tools.call(request.name, request.args, signal);
    default:
      return carried(asking, request, signal);
  }
}

async function stateOf({ plan, tracker }: Asking, tellClosed: boolean, signal: AbortSignal): Promise<string | null> {
  const { id } = plan.issue;
  const closed = new Set<string>();
  const states = await tracker.fetchIssueStatesByIds([id], signal, closed);
  return (tellClosed ? countClosed(states, closed) : states).get(id) ?? null;
}

/** What is asked of the repository. */
function carried({ carrier }: Asking, request: CarriedRequest, signal: AbortSignal): Promise<unknown> {
  if (carrier === null) throw new FaultError(noRepository());
  switch (request.ask) {
    case 'pack':
      return carrier.pack(request.have, signal);
    case 'pack-part':
      return carrier.readPack(request.at, signal);
    case 'work-part':
      return carrier.addWork(request.at, request.part, signal);
    case 'push':
      return carrier.push(request.sha, signal).then(pushValue);
    case 'propose':
      return carrier.propose(signal);
  }
}

/** A worker that does not know `kind` reads `refused` alone, and takes what is over for pushed. */
function pushValue(answer: PushAnswer): PushValue {
  return { ...answer, refused: answer.kind === 'refused' ? answer.said : null };
}

type CarriedRequest = Exclude<RunRequest, { ask: 'issue' | 'state' | 'move' | 'tool' }>;

function notAllowed(state: string): Fault {
  const message = `a run may move its issue to tracker.in_progress_state alone, not to ${state}`;
  return { kind: 'tracker_payload_error', message, consequence: 'back-off-at-cap' };
}

function noTools(): Fault {
  return { kind: 'tracker_payload_error', message: 'this run has no tools', consequence: 'back-off-at-cap' };
}

function noRepository(): Fault {
  return { kind: 'workspace_error', message: 'workspace: repo: this run has no repository', consequence: 'back-off-at-cap' };
}
