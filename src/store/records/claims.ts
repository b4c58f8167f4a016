import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { Claim, Handoff, WaitingFor } from '../../domain/model/claim.ts';
import type { ReactionContext } from '../../domain/model/reaction.ts';
import type { Trigger } from '../../domain/model/run.ts';
import { ISSUE_COLUMNS, issueOf } from './issue-columns.ts';
import { jsonColumn, schemaOf, toJson } from './json-column.ts';
import { defineTrackerTable } from './table.ts';
import { ReactionContextSchema, TriggerSchema } from './reactions.ts';
import { run, type Work } from './work.ts';

/**
 * Who has a claim, and until when. Here the lock on the database already sees to it that there is one owner; the two
 * columns make a claim a row that several daemons could share.
 */
export interface ClaimHolder {
  readonly owner: string;
  readonly leaseUntil: number;
}

/** How long a claim holds after it was written. */
export const LEASE_MS = 60_000;

const HandoffSchema = once(() => schemaOf<Handoff>()({ runId: z.string(), target: z.string() }));

const BASE = once(() => ({
  ...ISSUE_COLUMNS(),
  owner: z.string(),
  lease_until: z.number(),
  attempt: z.number(),
  failures: z.number(),
  refusals: z.number(),
  session_id: z.string().nullable(),
  since: z.number(),
}));
const Running = once(() =>
  z.object({
    ...BASE(),
    phase: z.literal('running'),
    run_id: z.string(),
    trigger: TriggerSchema(),
    reaction: jsonColumn(ReactionContextSchema()).nullable(),
    stopped_by: z.string().nullable(),
  }),
);
const Waiting = once(() =>
  z.object({
    ...BASE(),
    phase: z.literal('waiting'),
    due_at: z.number(),
    error: z.string(),
    trigger: TriggerSchema().nullable(),
    reaction: jsonColumn(ReactionContextSchema()).nullable(),
    handoff: jsonColumn(HandoffSchema()).nullable(),
  }),
);
const HandingOff = once(() => z.object({ ...BASE(), phase: z.literal('handing-off'), handoff: jsonColumn(HandoffSchema()) }));
const Columns = once(() => z.discriminatedUnion('phase', [Running(), Waiting(), HandingOff()]));

export const CLAIMS = defineTrackerTable({ name: 'claims', key: 'issue_id', columns: Columns, toRow: rowOf, fromRow: claimOf });

/** A daemon that has the database takes over what the one before it left. */
export function adoptClaims(hold: ClaimHolder): Work<void> {
  return run('UPDATE claims SET owner = ?, lease_until = ?', hold.owner, hold.leaseUntil);
}

/** Every row has the columns of all phases, so that a change of phase leaves nothing of the former one. */
function rowOf({ claim, hold }: { claim: Claim; hold: ClaimHolder }): z.input<ReturnType<typeof Columns>> {
  const { issue } = claim;
  const start = startOf(claim);
  const handoff = handoffOf(claim);
  const row = {
    // Written out, as a row is made for every step of a session: an object that copies another costs several times as much.
    issue_id: issue.id,
    identifier: issue.identifier,
    display_identifier: issue.displayIdentifier,
    title: issue.title,
    url: issue.url,
    state: issue.state,
    owner: hold.owner,
    lease_until: hold.leaseUntil,
    attempt: claim.attempt,
    failures: claim.failures,
    refusals: claim.refusals,
    session_id: claim.sessionId,
    since: claim.since,
    run_id: claim.phase === 'running' ? claim.runId : null,
    trigger: start && start.trigger,
    reaction: start?.reaction ? toJson(start.reaction) : null,
    due_at: claim.phase === 'waiting' ? claim.dueAt : null,
    error: claim.phase === 'waiting' ? claim.error : null,
    handoff: handoff && toJson(handoff),
    stopped_by: claim.phase === 'running' ? claim.stoppedBy : null,
    phase: claim.phase,
  };
  return row as z.input<ReturnType<typeof Columns>>;
}

/** What began the run, or will. */
function startOf(claim: Claim): { readonly trigger: Trigger; readonly reaction: ReactionContext | null } | null {
  if (claim.phase === 'running') return claim;
  return claim.phase === 'waiting' && claim.then.kind === 'run' ? claim.then : null;
}

function handoffOf(claim: Claim): Handoff | null {
  if (claim.phase === 'handing-off') return claim.handoff;
  return claim.phase === 'waiting' && claim.then.kind === 'handoff' ? claim.then.handoff : null;
}

function claimOf(row: z.infer<ReturnType<typeof Columns>>): Claim {
  const issue = issueOf(row);
  // Each written out, as for a row: a restart makes thousands of them.
  const { attempt, failures, refusals, session_id: sessionId, since } = row;
  if (row.phase === 'running') {
    const { run_id: runId, trigger, reaction, stopped_by: stoppedBy } = row;
    return { issue, attempt, failures, refusals, sessionId, since, phase: 'running', runId, trigger, reaction, stoppedBy };
  }
  if (row.phase === 'handing-off')
    return { issue, attempt, failures, refusals, sessionId, since, phase: 'handing-off', handoff: row.handoff };
  const { due_at: dueAt, error } = row;
  return { issue, attempt, failures, refusals, sessionId, since, phase: 'waiting', dueAt, error, then: waitingForOf(row) };
}

function waitingForOf(row: z.infer<ReturnType<typeof Waiting>>): WaitingFor {
  if (row.handoff) return { kind: 'handoff', handoff: row.handoff };
  if (row.trigger) return { kind: 'run', trigger: row.trigger, reaction: row.reaction };
  throw new Error('trigger: a waiting claim needs a trigger or a handoff');
}
