import { describe, expect, it } from 'vitest';
import { aRun, aRunning, aSnapshot, anIssue, createFakeDaemon, NOON } from '../../../test/support/fake-daemon.ts';
import { textOf } from '../../../test/support/page-text.ts';
import { load, panelOf } from '../../../test/support/dashboard.ts';

describe('search, filter and sort', () => {
  const current = aSnapshot({
    running: [
      aRunning('ENG-156'),
      aRunning('ENG-16', { title: 'Pay the <bank>' }),
      aRunning('ENG-2', { displayIdentifier: 'x#2' }),
    ],
    parked: [{ issue: anIssue('ENG-9'), reason: 'blocked', detail: 'needs a key', parkedAt: NOON, stateAtPark: null }],
  });
  const order = (page: string) => [...page.matchAll(/data-key="running-id-(ENG-\d+)"/g)].map(([, name]) => name);

  it.each([
    ['', ['ENG-156', 'ENG-16', 'ENG-2']],
    ['?sort=identifier', ['ENG-2', 'ENG-16', 'ENG-156']],
    ['?q=BANK', ['ENG-16']],
    ['?q=x%232', ['ENG-2']],
    ['?show=person', []],
    ['?show=nonsense&sort=nonsense', ['ENG-156', 'ENG-16', 'ENG-2']],
  ] as const)('"%s" gives %j', async (query, wanted) => {
    const { page } = await load(`/${query}`, createFakeDaemon({ current }));
    expect(order(page)).toEqual(wanted);
  });

  it('finds recent runs by their issue, outcome and error too', async () => {
    const runs = [
      aRun('r-1', { status: 'failed', error: 'no route to the bank' }),
      aRun('r-2', { issue: anIssue('ENG-9'), startedAt: NOON - 900_000 }),
    ];
    const shown = async (query: string) =>
      [...(await load(`/${query}`, createFakeDaemon({ runs }))).page.matchAll(/data-key="run-(r-\d)"/g)].map(([, id]) => id);
    expect(await shown('?q=bank')).toEqual(['r-1']);
    expect(await shown('?q=succeeded')).toEqual(['r-2']);
    expect(await shown('?q=eng-9')).toEqual(['r-2']);
    expect(await shown('?sort=oldest')).toEqual(['r-2', 'r-1']);
    const { page } = await load('/?q=nothing', createFakeDaemon({ runs }));
    expect(panelOf(page, 'history')).toContain('Recent runs 0 found Nothing here contains what you look for.');
  });

  it('keeps the counts of what there is, and says what was found', async () => {
    const { page } = await load('/?q=key', createFakeDaemon({ current }));
    expect(panelOf(page, 'running')).toContain('Running sessions 3 0 found');
    expect(panelOf(page, 'parked')).toContain('needs a key');
  });
});
describe('the page of a run', () => {
  const run = aRun('r-1', {
    status: 'failed',
    error: 'it broke',
    costUsd: 0.5,
    model: 'model-x',
    trigger: 'ci_failure',
    attempt: 2,
  });
  const event = (second: number, text: string) => ({
    runId: 'r-1',
    at: run.startedAt + second * 1000,
    type: 'tool_started',
    text,
  });

  it('shows the run and its events', async () => {
    const { page } = await load(
      '/runs/r-1',
      createFakeDaemon({ runs: [run], runEvents: [event(1, 'npm test'), event(75, 'git push')] }),
    );
    const text = textOf(page);
    for (const shown of [
      'ENG-1',
      'failed',
      'it broke',
      'ci failure',
      'Attempt 2',
      'Turns 3',
      '$0.50',
      'model-x',
      'mock-session-1',
      '+1s tool started npm test',
      '+1m 15s',
      'git push',
    ]) {
      expect(text).toContain(shown);
    }
    expect(page).toContain('href="/api/v2/runs/r-1"');
  });

  it('keeps the end of a long transcript', async () => {
    const runEvents = Array.from({ length: 700 }, (_, index) => event(index, `line ${index}`));
    const { page } = await load('/runs/r-1', createFakeDaemon({ runs: [run], runEvents }));
    expect(textOf(page)).toContain('550 earlier rows');
    expect(page).toContain('line 699');
    expect(page).not.toContain('line 549<');
    const earlier = await load('/runs/r-1/rows?before=550', createFakeDaemon({ runs: [run], runEvents }));
    expect(earlier.page).toContain('line 549');
    expect(earlier.page).toContain('data-earlier="400"');
  });

  it('is a 404 page when there is none', async () => {
    const { status, type, page } = await load('/runs/nope', createFakeDaemon());
    expect(status).toBe(404);
    expect(type).toContain('text/html');
    expect(page).toContain('There is no such run.');
  });
});
