import { expect, it } from 'vitest';
import { issueWith } from '../../../../test/support/issues.ts';
import { settingsWith } from '../../../../test/support/settings.ts';
import type { RunPlan } from '../../../domain/model/effect.ts';
import { refOf } from '../../../domain/model/issue.ts';
import type { Carrier, PushAnswer } from '../../../ports/carrier.ts';
import type { RunRequest } from '../../../ports/run-queue.ts';
import type { Tracker } from '../../../ports/tracker.ts';
import { answerRun } from '../leader/answer.ts';
import { createLeaderCarrier } from './leader-carrier.ts';

const signal = new AbortController().signal;
const plan = { issue: refOf(issueWith({ id: '1' })), settings: settingsWith() } as RunPlan;
const over = { number: 7, url: 'https://forge.test/7', end: 'closed' } as const;

/** What a service answers that is asked for a push, as it passes the database. */
async function answeredBy(pushed: PushAnswer) {
  const carrier = { push: () => Promise.resolve(pushed) } as Partial<Carrier> as Carrier & { close(): Promise<void> };
  const request: RunRequest = { ask: 'push', sha: 'abc' };
  const answer = await answerRun({ plan, tracker: {} as Tracker, tools: null, carrier }, request, signal);
  return JSON.parse(JSON.stringify(answer)) as typeof answer;
}

it.each<[PushAnswer, string | null]>([
  [{ kind: 'pushed' }, null],
  [{ kind: 'refused', said: 'remote: no' }, 'remote: no'],
  [{ kind: 'over', over }, null],
])('a worker learns what became of its push: %j', async (pushed, refused) => {
  const answer = await answeredBy(pushed);
  expect(await createLeaderCarrier(() => Promise.resolve(answer)).push('abc', signal)).toMatchObject(pushed);
  // A worker of an earlier version reads this alone.
  expect(answer).toMatchObject({ ok: true, value: { refused } });
});

it.each<[string | null, PushAnswer]>([
  [null, { kind: 'pushed' }],
  ['remote: no', { kind: 'refused', said: 'remote: no' }],
])('what a service of an earlier version answers to a push is understood: %j', async (refused, pushed) => {
  const asked = createLeaderCarrier(() => Promise.resolve({ ok: true, value: { refused } }));
  expect(await asked.push('abc', signal)).toEqual(pushed);
});
