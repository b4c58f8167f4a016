import { describe, expect, it } from 'vitest';
import { issueWith } from '../../../test/support/issues.ts';
import { NO_SESSION, type Live } from '../model/state.ts';
import { runningView } from './running-view.ts';

const SESSION: Live = {
  ...NO_SESSION,
  issue: issueWith({ id: '1', identifier: 'ENG-1' }),
  runId: 'r1',
  attempt: 1,
  pickedFrom: 'todo',
  startedAt: 0,
  lastEvent: 'turn_started',
  lastEventAt: 0,
  savedAt: 0,
};

describe('the view of a session', () => {
  it('is the same one for as long as it says the same', () => {
    const view = runningView(SESSION, 1_000);
    expect(runningView(SESSION, 90_000)).toBe(view);
    const spoke: Live = { ...SESSION, lastMessage: 'done' };
    expect(runningView(spoke, 90_000)).toMatchObject({ issueIdentifier: 'ENG-1', lastMessage: 'done' });
    expect(runningView(SESSION, 90_000).lastMessage).toBe('');
  });

  it('tells shares of the time that has passed by now', () => {
    const worked: Live = { ...SESSION, toolMs: 500, apiMs: 250 };
    expect(runningView(worked, 1_000)).toMatchObject({ toolTimePercent: 50, apiTimePercent: 25 });
    expect(runningView(worked, 2_000)).toMatchObject({ toolTimePercent: 25, apiTimePercent: 12.5 });
    expect(runningView(worked, 1_000)).toMatchObject({ toolTimePercent: 50, apiTimePercent: 25 });
  });
});
