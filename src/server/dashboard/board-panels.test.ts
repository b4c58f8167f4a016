import { NOTHING_KNOWN } from '../../domain/model/watch.ts';
import { NO_MARK } from '../../domain/model/reaction.ts';
import { describe, expect, it } from 'vitest';
import { aRetry, aRun, aRunning, anIssue, createFakeDaemon, NOON } from '../../../test/support/fake-daemon.ts';
import { load, dashboard, panelOf } from '../../../test/support/dashboard.ts';

describe('merge requests, runs and gaps', () => {
  it('shows watched merge requests, and no empty panel without any', async () => {
    const progress = {
      used: 2,
      mark: NO_MARK,
      escalated: true,
      failures: 0,
      nextAt: NOON + 9000,
      waitingFor: 'a green pipeline',
    };
    const watch = {
      issue: anIssue('ENG-6'),
      mergeRequest: { owner: 'acme', repo: 'shop', number: 12, branch: 'fix-6', sha: '0123456789abcdef' },
      armedAt: NOON,
      facts: NOTHING_KNOWN,
      attempt: 0,
      reading: {
        at: NOON,
        headSha: 'fedcba9876543210',
        url: 'https://forge.example/12',
        mergeability: 'clean',
        decision: 'CHANGES_REQUESTED',
        ci: 'failure',
        merged: false,
        draft: false,
      },
      reactions: { ci_failure: progress },
    };
    const panel = panelOf((await dashboard({ watches: [watch] })).page, 'merge-requests');
    for (const shown of [
      'ENG-6',
      'acme/shop',
      '#12',
      'fix-6',
      'fedcba98',
      'CI failure',
      'ci failure',
      'escalated',
      'a green pipeline',
      '2 used',
      'next check in 9s',
    ]) {
      expect(panel).toContain(shown);
    }
    expect((await dashboard()).text).not.toContain('Watched merge requests');
  });

  it('shows the last 25 runs with a link to each, and the sums of all', async () => {
    const runs = Array.from({ length: 40 }, (_, index) => aRun(`r/${index}`, { costUsd: 0.5, issue: anIssue(`ENG-${index}`) }));
    const { page, text } = await dashboard({}, { runs });
    expect(page.match(/data-key="run-/g)).toHaveLength(25);
    expect(page).toContain('href="/runs/r%2F24"');
    expect(text).toContain('All time: 40 runs, 60k tokens, 3h 20m, est. $20.00');
  });

  it('stands when history cannot be read', async () => {
    const daemon = createFakeDaemon();
    daemon.history.listRuns = () => Promise.reject(new Error('disk on fire'));
    const { status, page } = await load('/', daemon);
    expect(status).toBe(200);
    expect(page).toContain('History could not be read');
    expect(daemon.logged).toContainEqual({
      level: 'warn',
      message: 'history read failed',
      attributes: { error: 'Error: disk on fire' },
    });
  });

  it('is 503 and says so when there is no snapshot', async () => {
    const daemon = createFakeDaemon();
    daemon.current = null;
    const { status, page } = await load('/', daemon);
    expect(status).toBe(503);
    expect(page).toContain('The state of the service could not be read.');
    expect(page).toContain('id="live"');
  });

  it.each([
    ['idle', {}, 'running', 'Nothing runs. Next poll in 12s .'],
    ['polling', { poll: { last: null, nextAt: NOON, inFlight: true } }, 'running', 'Nothing runs. A poll is under way.'],
    [
      'before the first poll',
      { poll: { last: null, nextAt: NOON + 1000, inFlight: false } },
      'holds',
      'No poll has finished yet. Next poll in 1s .',
    ],
    [
      'standing by',
      { poll: { last: null, nextAt: null, inFlight: false } },
      'holds',
      'What is kept back, and why, is known to the leader alone: see its board.',
    ],
    [
      'standing by, nothing runs',
      { poll: { last: null, nextAt: null, inFlight: false } },
      'running',
      'Nothing runs. The tracker is polled by the leader.',
    ],
    ['no candidates', {}, 'holds', 'The last poll found no issue in an active state.'],
    [
      'no candidates of a filter',
      { isFiltered: true },
      'holds',
      'The last poll found no issue in an active state that matches tracker.query_filter.',
    ],
    ['no retries', {}, 'retrying', 'No issue waits for another try.'],
    ['none parked', {}, 'parked', 'No issue waits for a person.'],
    ['no history', {}, 'history', 'No run yet.'],
  ] as const)('empty, %s: says what happens next', async (_, changes, id, shown) => {
    expect(panelOf((await dashboard(changes)).page, id)).toContain(shown);
  });

  it('shows a qualified identifier where the tracker has one', async () => {
    const { text } = await dashboard({ running: [aRunning('7', { displayIdentifier: 'acme/shop#7' })] });
    expect(text).toContain('acme/shop#7');
  });

  it('shows unknown tokens as unknown', async () => {
    const { page } = await dashboard({ running: [aRunning('ENG-1', { tokensMeasured: false })] });
    expect(panelOf(page, 'running')).toContain('–');
  });

  it('folds long text away', async () => {
    const { page } = await dashboard({ retrying: [aRetry('ENG-2', { error: `${'😀'.repeat(200)}\nlast line` })] });
    expect(page).toMatch(/<details data-key="error-id-ENG-2">\s*<summary><bdi>(?:😀){160}…<\/bdi>/u);
    expect(page).toContain('\nlast line</bdi></pre>');
  });
});
