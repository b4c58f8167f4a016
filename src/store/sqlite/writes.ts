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
import type { Sqlite } from './sqlite.ts';
import { WATCHES } from './watches.ts';
import { WORKSPACES } from './workspaces.ts';

/** Whose records are written, and by whom. */
export interface Scope {
  readonly tracker: string;
  readonly hold: ClaimHolder;
}

type Writer<K extends Write['write']> = (db: Sqlite, write: Extract<Write, { write: K }>, scope: Scope) => void;

const WRITERS: { readonly [K in Write['write']]: Writer<K> } = {
  claim: (db, { claim }, { tracker, hold }) => CLAIMS.put(db, tracker, { claim, hold }),
  release: (db, { issueId }, { tracker }) => CLAIMS.remove(db, tracker, issueId),
  park: (db, { parked }, { tracker }) => PARKED.put(db, tracker, parked),
  unpark: (db, { issueId }, { tracker }) => PARKED.remove(db, tracker, issueId),
  run: (db, { run }, { tracker }) => RUNS.put(db, { run, tracker }),
  'interrupt-runs': (db, { at }, { tracker }) => interruptRuns(db, tracker, at),
  'run-events': (db, { events, maxBytes }) => addRunEvents(db, events, maxBytes),
  outbox: (db, { entry }, { tracker }) => OUTBOX.put(db, tracker, entry),
  'outbox-done': (db, { id }, { tracker }) => OUTBOX.remove(db, tracker, id),
  workspace: (db, { workspace }, { tracker }) => WORKSPACES.put(db, tracker, workspace),
  'workspace-gone': (db, { path }, { tracker }) => WORKSPACES.remove(db, tracker, path),
  spent: (db, { spent }, { tracker }) => SPENT.put(db, tracker, spent),
  // An agent's limit is the agent's, whatever tracker it met it for.
  pause: (db, { pause }) => PAUSES.put(db, pause),
  resume: (db, { agentKind }) => PAUSES.remove(db, agentKind),
  watch: (db, { watch }, { tracker }) => WATCHES.put(db, tracker, watch),
  unwatch: (db, { issueId }, { tracker }) => WATCHES.remove(db, tracker, issueId),
  approve: (db, { approval }, { tracker }) => APPROVALS.put(db, tracker, approval),
  unapprove: (db, { issueId }, { tracker }) => APPROVALS.remove(db, tracker, issueId),
  'operator-pause': (db, { pause }) => writeOperatorPause(db, pause),
  answer: (db, { requestId, answer, at }) => writeAnswer(db, requestId, answer, at),
};

/** Carries out one write of a unit of work. */
export function applyWrite<K extends Write['write']>(db: Sqlite, write: Extract<Write, { write: K }>, scope: Scope): void {
  if (!(write.write in WRITERS)) throw new TypeError(`unknown write ${JSON.stringify(write)}`);
  (WRITERS[write.write] as Writer<K>)(db, write, scope);
}

/** Reads everything of one tracker that a restart needs, as of one moment. */
export function loadDurable(db: Sqlite, tracker: string): Durable {
  return db.snapshot(() => ({
    claims: CLAIMS.load(db, tracker),
    parked: PARKED.load(db, tracker),
    outbox: OUTBOX.load(db, tracker),
    workspaces: WORKSPACES.load(db, tracker),
    spent: SPENT.load(db, tracker),
    pauses: PAUSES.load(db),
    watches: WATCHES.load(db, tracker),
    approvals: APPROVALS.load(db, tracker),
    operatorPause: readOperatorPause(db),
  }));
}
