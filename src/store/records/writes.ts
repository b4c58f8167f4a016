import type { Durable, Write } from '../../ports/store.ts';
import { APPROVALS } from './approvals.ts';
import { CLAIMS } from './claims.ts';
import type { ClaimHolder } from './claims.ts';
import { writeOperatorPause, readOperatorPause } from './operator-pause.ts';
import { writeAnswer } from './operator-requests.ts';
import { OUTBOX } from './outbox.ts';
import { PARKED } from './parked.ts';
import { PAUSES } from './pauses.ts';
import { addRunEvents } from './run-events.ts';
import { interruptRuns, RUNS } from './runs.ts';
import { SPENT } from './spent.ts';
import { TOLD } from './told.ts';
import { WATCHES } from './watches.ts';
import type { Work } from './work.ts';
import { WORKSPACES } from './workspaces.ts';

/** Whose records are written, and by whom. */
export interface Scope {
  readonly tracker: string;
  readonly hold: ClaimHolder;
}

type Writer<K extends Write['write']> = (write: Extract<Write, { write: K }>, scope: Scope) => Work<void>;

const WRITERS: { readonly [K in Write['write']]: Writer<K> } = {
  claim: ({ claim }, { tracker, hold }) => CLAIMS.put(tracker, { claim, hold }),
  release: ({ issueId }, { tracker }) => CLAIMS.remove(tracker, issueId),
  park: ({ parked }, { tracker }) => PARKED.put(tracker, parked),
  unpark: ({ issueId }, { tracker }) => PARKED.remove(tracker, issueId),
  run: ({ run }, { tracker }) => RUNS.put({ run, tracker }),
  'interrupt-runs': ({ at }, { tracker }) => interruptRuns(tracker, at),
  'run-events': ({ events, maxBytes }) => addRunEvents(events, maxBytes),
  outbox: ({ entry }, { tracker }) => OUTBOX.put(tracker, entry),
  'outbox-done': ({ id }, { tracker }) => OUTBOX.remove(tracker, id),
  workspace: ({ workspace }, { tracker }) => WORKSPACES.put(tracker, workspace),
  'workspace-gone': ({ path }, { tracker }) => WORKSPACES.remove(tracker, path),
  spent: ({ spent }, { tracker }) => SPENT.put(tracker, spent),
  // An agent's limit is the agent's, whatever tracker it met it for.
  pause: ({ pause }) => PAUSES.put(pause),
  resume: ({ agentKind }) => PAUSES.remove(agentKind),
  watch: ({ watch }, { tracker }) => WATCHES.put(tracker, watch),
  unwatch: ({ issueId }, { tracker }) => WATCHES.remove(tracker, issueId),
  approve: ({ approval }, { tracker }) => APPROVALS.put(tracker, approval),
  unapprove: ({ issueId }, { tracker }) => APPROVALS.remove(tracker, issueId),
  'operator-pause': ({ pause }) => writeOperatorPause(pause),
  told: ({ told }) => TOLD.put(told),
  'told-over': ({ subject }) => TOLD.remove(subject),
  answer: ({ requestId, answer, at }) => writeAnswer(requestId, answer, at),
};

/** Carries out one write of a unit of work. */
function applyWrite<K extends Write['write']>(write: Extract<Write, { write: K }>, scope: Scope): Work<void> {
  if (!(write.write in WRITERS)) throw new TypeError(`unknown write ${JSON.stringify(write)}`);
  return (WRITERS[write.write] as Writer<K>)(write, scope);
}

/** Carries out a unit of work. Answers go first: who takes a request back meanwhile waits for what became of it. */
export function* applyWrites(writes: readonly Write[], scope: Scope): Work<void> {
  const isAnswer = ({ write }: Write): boolean => write === 'answer';
  for (const write of writes.filter(isAnswer)) yield* applyWrite(write, scope);
  for (const write of writes.filter((other) => !isAnswer(other))) yield* applyWrite(write, scope);
}

/** Reads everything of one tracker that a restart needs. */
export function* loadDurable(tracker: string): Work<Durable> {
  return {
    claims: yield* CLAIMS.load(tracker),
    parked: yield* PARKED.load(tracker),
    outbox: yield* OUTBOX.load(tracker),
    workspaces: yield* WORKSPACES.load(tracker),
    spent: yield* SPENT.load(tracker),
    pauses: yield* PAUSES.load(),
    watches: yield* WATCHES.load(tracker),
    approvals: yield* APPROVALS.load(tracker),
    operatorPause: yield* readOperatorPause(),
    told: yield* TOLD.load(),
  };
}
