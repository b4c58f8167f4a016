import { expect, it } from 'vitest';
import { issueWith } from '../../../../test/support/issues.ts';
import { settingsWith } from '../../../../test/support/settings.ts';
import type { RunPlan } from '../../../domain/model/effect.ts';
import { refOf } from '../../../domain/model/issue.ts';
import type { Tracker } from '../../../ports/tracker.ts';
import { answerRun } from '../leader/answer.ts';
import { createLeaderTracker } from './leader-tracker.ts';

const signal = new AbortController().signal;

it('a run on a worker is told that its issue is closed where it asks for that, else the state that its label names', async () => {
  const plan = { issue: refOf(issueWith({ id: '1' })), settings: settingsWith() } as RunPlan;
  const tracker = {
    fetchIssueStatesByIds(_ids: readonly string[], _signal: AbortSignal, closed?: Set<string>) {
      closed?.add('1');
      return Promise.resolve(new Map([['1', 'todo']]));
    },
  } as Partial<Tracker> as Tracker;
  const leader = { plan, tracker, tools: null, carrier: null };
  const asked = createLeaderTracker((request, cut) => answerRun(leader, request, cut), plan);
  expect((await asked.fetchIssueStatesByIds(['1'], signal)).get('1')).toBe('todo');
  expect((await asked.fetchIssueStatesByIds(['1'], signal, new Set())).get('1')).toBe('closed');
});
