import { announce, type Draft } from '../draft.ts';
import type { AskedEffect, AskedName, EffectNamed } from '../model/effect.ts';
import type { Fault } from '../model/fault.ts';
import { failedExit, type AnswerTo, type EventNamed } from '../model/event.ts';

/** An effect could not be carried out: gives the answer that says so. What nobody foresaw is also told. */
export function answerOfFailure(draft: Draft, { effect, fault }: EventNamed<'effect-failed'>): AnswerTo<AskedName> {
  if (fault.kind === 'internal_error') announce(draft, 'daemon:effect:failed', { effect: effect.do, error: fault.message });
  return (FAILED[effect.do] as (effect: AskedEffect, fault: Fault) => AnswerTo<AskedName>)(effect, fault);
}

/** The failing answer of each effect. */
const FAILED: { readonly [Name in AskedName]: (effect: EffectNamed<Name>, fault: Fault) => AnswerTo<Name> } = {
  poll: (_effect, fault) => ({
    type: 'poll-answered',
    candidates: { ok: false, fault },
    states: { ok: false, fault },
    preflightProblem: null,
  }),
  'read-blockers': ({ issues }, fault) => ({
    type: 'blockers-answered',
    blockers: new Map(issues.map((issue) => [issue.id, { ok: false, fault }])),
  }),
  'go-on': () => ({ type: 'went-on' }),
  'read-candidate': ({ issue }, fault) => ({ type: 'candidate-read', issueId: issue.id, issue: { ok: false, fault } }),
  'read-issue': ({ issueId }, fault) => ({ type: 'issue-read', issueId, issue: { ok: false, fault } }),
  'start-run': ({ plan }, fault) => ({
    type: 'run-exited',
    issueId: plan.issue.id,
    runId: plan.runId,
    exit: failedExit(fault),
  }),
  'hand-off': ({ issue, handoff }, fault) => ({
    type: 'handoff-answered',
    issueId: issue.id,
    runId: handoff.runId,
    outcome: { kind: 'failed', fault },
  }),
  'write-out': ({ entry }, fault) => ({ type: 'outbox-answered', id: entry.id, fault }),
  'read-terminal': (_effect, fault) => ({ type: 'cleanup-answered', issues: { ok: false, fault } }),
  sweep: (_effect, fault) => ({ type: 'sweep-answered', states: { ok: false, fault }, missing: [], waiting: [] }),
  inspect: ({ watch, due }, fault) => ({
    type: 'inspected',
    issueId: watch.issue.id,
    number: watch.mergeRequest.number,
    armedAt: watch.armedAt,
    runs: watch.facts.runs,
    due,
    findings: { issueState: { ok: false, fault }, merge: { ok: false, fault } },
  }),
  merge: ({ issueId, order }, fault) => ({
    type: 'merge-answered',
    issueId,
    expectedSha: order.expectedSha,
    outcome: { kind: 'refused', fault, unsure: true },
  }),
  'delete-branch': ({ issueId }, fault) => ({ type: 'branch-deleted', issueId, fault }),
  'remove-label': ({ issue, label }, fault) => ({ type: 'label-removed', issue, label, fault }),
  complete: ({ issue }, fault) => ({ type: 'completion-answered', issueId: issue.id, fault }),
  'remove-workspace': ({ issueId, identifier, why }, fault) => ({
    type: 'workspace-removed',
    aside: null,
    issueId,
    identifier,
    path: '',
    why,
    outcome: { ok: false, fault },
  }),
};
