import { describe, expect, it } from 'vitest';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { RecordsError, TrackerError, WorkspaceError, type FaultKind } from '../../domain/model/errors.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import { faultOf } from '../../domain/model/fault.ts';
import { refOf } from '../../domain/model/issue.ts';
import type { Carrier } from '../../ports/carrier.ts';
import type { RunAnswer, RunRequest } from '../../ports/run-queue.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { answerRun } from './leader/answer.ts';
import { createLeaderCarrier } from './worker/leader-carrier.ts';
import { createLeaderTracker } from './worker/leader-tracker.ts';

const signal = new AbortController().signal;
const plan = { issue: refOf(issueWith({ id: '1' })), settings: settingsWith() } as RunPlan;

class Away extends RecordsError {
  readonly isAway = true;
}

const at = { method: 'GET', path: '/issues/1' };
const ERRORS: readonly (readonly [string, Error])[] = [
  [
    'a path with a blank',
    new TrackerError({ kind: 'tracker_payload_error', method: 'READ', path: '/my dir/a.json', detail: 'x' }),
  ],
  ['a detail of many lines', new TrackerError({ kind: 'tracker_api_error', ...at, detail: 'a: b\nc: d', status: 502 })],
  ['a limit', new TrackerError({ kind: 'tracker_api_error', ...at, detail: 'slow down', status: 429, retryAfterMs: 7_000 })],
  [
    'a limit that is told otherwise',
    new TrackerError({ kind: 'tracker_auth_error', ...at, detail: 'x', status: 403, isLimit: true }),
  ],
  ['a garbled answer', new TrackerError({ kind: 'tracker_payload_error', ...at, detail: 'no JSON', status: 200 })],
  ['a credential not taken', new TrackerError({ kind: 'tracker_auth_error', ...at, detail: 'bad token', status: 401 })],
  ['a workspace', new WorkspaceError('on me@host:22', 'the disk is full: no space', { retryable: true })],
  ['a place in a path', new WorkspaceError('refused', 'it leads out', { retryable: false })],
  ['a database', new Away('the database is away')],
  ['a mistake of ours', new Error('undefined is no function')],
];

/** As it passes the database; a service of an earlier version told the fault alone. */
function passed(answer: RunAnswer, isEarlier: boolean): RunAnswer {
  const { error: _error, ...told } = JSON.parse(JSON.stringify(answer)) as RunAnswer & { error?: unknown };
  return isEarlier ? told : (JSON.parse(JSON.stringify(answer)) as RunAnswer);
}

describe.each([false, true])('told by a service of an earlier version: %j', (isEarlier) => {
  it.each(ERRORS)('%s is the same on a worker', async (_what, error) => {
    const tracker = { fetchIssueById: () => Promise.reject(error) } as Partial<Tracker> as Tracker;
    const carrier = { propose: () => Promise.reject(error) } as Partial<Carrier> as Carrier & { close(): Promise<void> };
    const leader = { plan, tracker, tools: null, carrier };
    const ask = async (request: RunRequest) => passed(await answerRun(leader, request, signal), isEarlier);
    const thrown = await createLeaderTracker(ask, plan)
      .fetchIssueById('1', signal)
      .catch((fault: unknown) => fault);
    expect(faultOf(thrown)).toEqual(faultOf(error));
    const carried = await createLeaderCarrier(ask)
      .propose(signal)
      .catch((fault: unknown) => fault);
    expect(faultOf(carried)).toEqual(faultOf(error));
    const isKnown = error instanceof TrackerError || error instanceof WorkspaceError;
    if (isKnown) expect(carried).toBeInstanceOf(error.constructor);
  });
});

it('all that a tracker told is known on a worker', async () => {
  const facts = { kind: 'tracker_payload_error', ...at, detail: 'no such state', status: 422, unknownStates: ['todo'] } as const;
  const tracker = { fetchIssueById: () => Promise.reject(new TrackerError(facts)) } as Partial<Tracker> as Tracker;
  const ask = async (request: RunRequest) =>
    passed(await answerRun({ plan, tracker, tools: null, carrier: null }, request, signal), false);
  await expect(createLeaderTracker(ask, plan).fetchIssueById('1', signal)).rejects.toMatchObject({
    status: 422,
    unknownStates: ['todo'],
    detail: 'no such state',
  });
});

it('what a run may not do is the same fault on a worker', async () => {
  const leader = { plan, tracker: {} as Tracker, tools: null, carrier: null };
  const asked = createLeaderTracker((request, cut) => answerRun(leader, request, cut), plan);
  const error: unknown = await asked.transitionIssue('1', 'done', signal).catch((fault: unknown) => fault);
  expect(faultOf(error)).toMatchObject({ kind: 'tracker_payload_error', consequence: 'back-off-at-cap' });
});

it('a kind of fault that only another version knows is an internal error', async () => {
  const fault = {
    kind: 'tracker_dreamt' as FaultKind,
    message: 'tracker: tracker_dreamt: GET /x: of sheep',
    consequence: 'back-off',
  } as const;
  const ask = () => Promise.resolve({ ok: false, fault } as const);
  const thrown = await createLeaderTracker(ask, plan)
    .fetchIssueById('1', signal)
    .catch((error: unknown) => error);
  expect(faultOf(thrown)).toEqual({ ...fault, kind: 'internal_error' });
});
