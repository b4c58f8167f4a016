import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { Claim, Handoff, WaitingFor } from '../../domain/model/claim.ts';
import type { ReactionContext } from '../../domain/model/reaction.ts';
import type { Trigger } from '../../domain/model/run.ts';
import { ISSUE_COLUMNS, issueColumns, issueOf } from './issue-columns.ts';
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

/** What only some phases have. Written in every row, so that a change of phase leaves nothing of the former one. */
const OF_NO_PHASE = { run_id: null, trigger: null, reaction: null, due_at: null, error: null, handoff: null, stopped_by: null };

function rowOf({ claim, hold }: { claim: Claim; hold: ClaimHolder }): z.input<ReturnType<typeof Columns>> {
  const base = {
    ...issueColumns(claim.issue),
    owner: hold.owner,
    lease_until: hold.leaseUntil,
    attempt: claim.attempt,
    failures: claim.failures,
    refusals: claim.refusals,
    session_id: claim.sessionId,
    since: claim.since,
    ...OF_NO_PHASE,
  };
  if (claim.phase === 'running')
    return { ...base, phase: 'running', run_id: claim.runId, stopped_by: claim.stoppedBy, ...startColumns(claim) };
  if (claim.phase === 'handing-off') return { ...base, phase: 'handing-off', handoff: toJson(claim.handoff) };
  return { ...base, phase: 'waiting', due_at: claim.dueAt, error: claim.error, ...nextColumns(claim.then) };
}

function startColumns(start: { trigger: Trigger; reaction: ReactionContext | null }) {
  return { trigger: start.trigger, reaction: start.reaction && toJson(start.reaction) };
}

function nextColumns(then: WaitingFor) {
  return then.kind === 'handoff' ? { handoff: toJson(then.handoff) } : startColumns(then);
}

function claimOf(row: z.infer<ReturnType<typeof Columns>>): Claim {
  const base = {
    issue: issueOf(row),
    attempt: row.attempt,
    failures: row.failures,
    refusals: row.refusals,
    sessionId: row.session_id,
    since: row.since,
  };
  if (row.phase === 'running') {
    const { run_id: runId, trigger, reaction, stopped_by: stoppedBy } = row;
    return { ...base, phase: 'running', runId, trigger, reaction, stoppedBy };
  }
  if (row.phase === 'handing-off') return { ...base, phase: 'handing-off', handoff: row.handoff };
  return { ...base, phase: 'waiting', dueAt: row.due_at, error: row.error, then: waitingForOf(row) };
}

function waitingForOf(row: z.infer<ReturnType<typeof Waiting>>): WaitingFor {
  if (row.handoff) return { kind: 'handoff', handoff: row.handoff };
  if (row.trigger) return { kind: 'run', trigger: row.trigger, reaction: row.reaction };
  throw new Error('trigger: a waiting claim needs a trigger or a handoff');
}
