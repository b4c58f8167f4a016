import type { Durable, Write } from '../../ports/store.ts';
import { CLAIMS } from './claims.ts';
import type { ClaimHolder } from './claims.ts';
import { putOperatorPause, readOperatorPause } from './operator-pause.ts';
import { answerRequest } from './operator-requests.ts';
import { OUTBOX } from './outbox.ts';
import { PARKED } from './parked.ts';
import { PAUSES } from './pauses.ts';
import { addRunEvents } from './run-events.ts';
import { interruptRuns, RUNS } from './runs.ts';
import { SPENT } from './spent.ts';
import type { Sqlite } from './sqlite.ts';
import { WATCHES } from './watches.ts';
import { WORKSPACES } from './workspaces.ts';

type Writer<K extends Write['write']> = (db: Sqlite, write: Extract<Write, { write: K }>, hold: ClaimHolder) => void;

const WRITERS: { readonly [K in Write['write']]: Writer<K> } = {
  claim: (db, { claim }, hold) => CLAIMS.put(db, { claim, hold }),
  release: (db, { issueId }) => CLAIMS.remove(db, issueId),
  park: (db, { parked }) => PARKED.put(db, parked),
  unpark: (db, { issueId }) => PARKED.remove(db, issueId),
  run: (db, { run }) => RUNS.put(db, run),
  'interrupt-runs': (db, { at }) => interruptRuns(db, at),
  'run-events': (db, { events, maxBytes }) => addRunEvents(db, events, maxBytes),
  outbox: (db, { entry }) => OUTBOX.put(db, entry),
  'outbox-done': (db, { id }) => OUTBOX.remove(db, id),
  workspace: (db, { workspace }) => WORKSPACES.put(db, workspace),
  'workspace-gone': (db, { path }) => WORKSPACES.remove(db, path),
  spent: (db, { spent }) => SPENT.put(db, spent),
  pause: (db, { pause }) => PAUSES.put(db, pause),
  resume: (db, { agentKind }) => PAUSES.remove(db, agentKind),
  watch: (db, { watch }) => WATCHES.put(db, watch),
  unwatch: (db, { issueId }) => WATCHES.remove(db, issueId),
  'operator-pause': (db, { pause }) => putOperatorPause(db, pause),
  answer: (db, { requestId, answer, at }) => answerRequest(db, requestId, answer, at),
};

/** Carries out one write of a unit of work. */
export function applyWrite<K extends Write['write']>(db: Sqlite, write: Extract<Write, { write: K }>, hold: ClaimHolder): void {
  if (!(write.write in WRITERS)) throw new TypeError(`unknown write ${JSON.stringify(write)}`);
  (WRITERS[write.write] as Writer<K>)(db, write, hold);
}

/** Reads everything that a restart needs, as of one moment. */
export function loadDurable(db: Sqlite): Durable {
  return db.snapshot(() => ({
    claims: CLAIMS.load(db),
    parked: PARKED.load(db),
    outbox: OUTBOX.load(db),
    workspaces: WORKSPACES.load(db),
    spent: SPENT.load(db),
    pauses: PAUSES.load(db),
    watches: WATCHES.load(db),
    operatorPause: readOperatorPause(db),
  }));
}
