import { expect, it } from 'vitest';
import { createNotices } from '../../../test/support/fake-daemon.ts';
import type { ProblemFacts } from '../../domain/model/problem.ts';
import type { GoodWorkflow } from '../workflow.ts';
import { followWorkflowStatus } from './workflow-status.ts';

const path = '/srv/WORKFLOW.md';
const fault: ProblemFacts = { severity: 'error', check: 'agent.kind', message: 'unknown', file: path, line: 3, column: 1 };
const AWAITED = { name: 'workflow:file:awaited', facts: { path, kind: 'linear' } } as const;
const REJECTED = { name: 'workflow:file:rejected', facts: { path, problems: ['unknown'], faults: [fault] } } as const;
const RELOADED = { name: 'workflow:file:reloaded', facts: { path } } as const;
const WAITS = expect.stringMatching(/^the last edit waits for its tracker, .*check tracker\.endpoint/) as string;

function setUp() {
  const notices = createNotices();
  const time = { now: 1_000 };
  const workflow = () => ({ path, problems: [] }) as unknown as GoodWorkflow;
  const clock = { now: () => time.now };
  return { ...notices, time, status: followWorkflowStatus({ workflow, foundLater: () => [], notices, clock }).status };
}

it('an edit that waits for its tracker is shown as one that is not taken', () => {
  const { announce, status, time } = setUp();
  time.now = 2_000;
  announce(AWAITED);
  expect(status()).toMatchObject({
    appliedAt: 1_000,
    rejected: { at: 2_000, reason: WAITS, isAwaited: true },
    problems: [{ severity: 'error', check: 'tracker.access', message: WAITS, file: path, line: null, column: null }],
  });
});

it('it is forgotten once the edit is taken', () => {
  const { announce, status, time } = setUp();
  announce(AWAITED);
  time.now = 3_000;
  announce(RELOADED);
  expect(status()).toMatchObject({ appliedAt: 3_000, rejected: null, problems: [] });
});

it('what became of an edit last is what is shown', () => {
  const { announce, status } = setUp();
  announce(AWAITED);
  announce(REJECTED);
  expect(status()).toMatchObject({ rejected: { at: 1_000, reason: 'unknown' }, problems: [fault] });
  expect(status().rejected).not.toHaveProperty('isAwaited');
  announce(AWAITED);
  expect(status()).toMatchObject({ rejected: { reason: WAITS, isAwaited: true }, problems: [{ check: 'tracker.access' }] });
});
