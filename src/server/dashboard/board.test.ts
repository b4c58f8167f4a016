import { describe, expect, it } from 'vitest';
import { aRetry, aRunning, aSnapshot, anIssue, createFakeDaemon, NOON } from '../../../test/support/fake-daemon.ts';
import { textOf } from '../../../test/support/page-text.ts';
import { load, dashboard, panelOf } from '../../../test/support/dashboard.ts';

describe('the dashboard', () => {
  it('tells of a lost connection to who does not see it', async () => {
    expect((await dashboard()).page).toMatch(/<p id="stream"[^>]* role="status"/);
  });

  it('is a page of its own, with the script and the reload for those without', async () => {
    const { status, type, page } = await load('/', createFakeDaemon());
    expect(status).toBe(200);
    expect(type).toBe('text/html; charset=UTF-8');
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toContain('<noscript><meta http-equiv="refresh" content="5" /></noscript>');
    expect(page).toContain('<script type="module" src="/assets/dashboard.js"></script>');
  });

  it('has no inline script, style or handler, which the policy would block', async () => {
    const { page } = await dashboard({ running: [aRunning('ENG-1')] });
    expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script>/i);
  });

  it('shows each running session: identifier, state, turns, duration, last event, tokens and more', async () => {
    const { page } = await dashboard({
      running: [
        aRunning('ENG-1', {
          state: 'In Progress',
          turnCount: 7,
          attempt: 2,
          lastMessage: 'Looking at it',
          modelName: 'model-x',
          costUsd: 1.25,
          tokens: { inputTokens: 12_000, outputTokens: 345, totalTokens: 12_345, cacheReadTokens: 0 },
        }),
      ],
    });
    const panel = panelOf(page, 'running');
    for (const shown of [
      'ENG-1',
      'Title of ENG-1',
      'In Progress',
      ' 7 ',
      'attempt 2',
      '1m 05s',
      'turn completed',
      '5s ago',
      'Looking at it',
      '12.3k',
      'model-x',
      '$1.25',
    ]) {
      expect(panel).toContain(shown);
    }
  });

  it('marks a state that no label carries, and no other', async () => {
    const hold = { issue: anIssue('ENG-3', { stateAssumed: true }), reason: 'no_global_slot', detail: '', since: NOON } as const;
    const { page } = await dashboard({
      running: [aRunning('ENG-1', { stateAssumed: true }), aRunning('ENG-2', { state: 'doing' })],
      holds: [hold],
    });
    expect(panelOf(page, 'running')).toContain('todo (assumed)');
    expect(panelOf(page, 'running')).not.toContain('doing (assumed)');
    expect(panelOf(page, 'holds')).toContain('todo (assumed)');
    const current = aSnapshot({ running: [aRunning('ENG-1', { stateAssumed: true })] });
    expect(textOf((await load('/issues/ENG-1', createFakeDaemon({ current }))).page)).toContain('todo (assumed)');
  });

  it('shows the retry queue: identifier, attempt, time until due, error', async () => {
    const { page } = await dashboard({ retrying: [aRetry('ENG-2', { attempt: 3 })] });
    const panel = panelOf(page, 'retrying');
    for (const shown of ['ENG-2', ' 3 ', 'in 20s', 'agent: turn_failed: it did not work']) expect(panel).toContain(shown);
  });

  it('shows the summary cards, uptime, version and totals', async () => {
    const { text } = await dashboard({
      running: [aRunning('ENG-1')],
      retrying: [aRetry('ENG-2'), aRetry('ENG-3')],
      slots: { max: 10, available: 9 },
      totals: {
        tokens: { inputTokens: 900_000, outputTokens: 100_000, totalTokens: 1_000_000, cacheReadTokens: 5000 },
        secondsRunning: 7384,
        sessions: 0,
        costUsd: 3.5,
      },
    });
    for (const shown of [
      'Running 1',
      'Available slots 9 of 10',
      'Retrying 2 next in 20s',
      'Total tokens 1M 900k in · 100k out · 5k cached',
      'Agent time 2h 03m since start',
      'Cost today $0.00 $0.00 in 7 days · no limit set',
      'Uptime 1h 00m',
      'Version 1.2.3',
      'Tracker file',
      'Agent mock',
    ]) {
      expect(text).toContain(shown);
    }
  });

  it('shows parked issues with the reason, since when and how to release them', async () => {
    const parked = (identifier: string) => ({
      issue: anIssue(identifier),
      reason: 'out_of_attempts' as const,
      detail: 'five failed runs',
      parkedAt: NOON - 120_000,
      stateAtPark: null,
    });
    const { page } = await dashboard({ parked: [parked('ENG-4'), parked("it's #5")] });
    const panel = panelOf(page, 'parked');
    for (const shown of [
      'ENG-4',
      'out of attempts',
      'five failed runs',
      '2m ago',
      'foray unpark ENG-4',
      `foray unpark 'it'\\''s #5'`,
    ]) {
      expect(panel).toContain(shown);
    }
  });

  it('shows who stops a session, until it is over', async () => {
    const { page } = await dashboard({ running: [aRunning('ENG-1', { stoppedBy: 'Ada' })] });
    expect(panelOf(page, 'running')).toContain('being stopped by Ada');
  });

  it('shows why candidates are held, by reason, leaving out what other panels show', async () => {
    const hold = (identifier: string, reason: 'blocked_by' | 'no_global_slot' | 'running') => ({
      issue: anIssue(identifier),
      reason,
      detail: `because of ${reason}`,
      since: NOON - 1000,
    });
    const { page } = await dashboard({
      holds: [hold('A-1', 'blocked_by'), hold('A-2', 'no_global_slot'), hold('A-3', 'running'), hold('A-4', 'no_global_slot')],
      retrying: [aRetry('A-4')],
    });
    const panel = panelOf(page, 'holds');
    expect(panel).toContain('Not dispatched, and why 2');
    expect(panel).toContain('blocked by 1 no global slot 1');
    expect(panel).toContain('because of no_global_slot');
    expect(panel).not.toContain('A-3');
    expect(panel).not.toContain('A-4');
  });

  it.each([
    ['not yet', 1000, false],
    ['long', 3000, true],
  ])('a tracker that is waited for %s', async (_, ms, isTold) => {
    const poll = { last: null, nextAt: NOON, inFlight: true, waitsSince: NOON - ms };
    expect((await dashboard({ poll })).text.includes('The tracker has not answered yet. It was asked 3s ago')).toBe(isTold);
  });

  it.each([
    ['waits', NOON + 4000, 'It is tried again in 4s . check tracker.endpoint.'],
    ['is under way', NOON - 1000, 'It is being tried again. check tracker.endpoint.'],
  ])('why a start could not read its tracker, while the next try %s', async (_, nextTryAt, next) => {
    const startFault = { at: NOON - 2000, error: 'GET /<b>: status 503', remedy: 'check tracker.endpoint', nextTryAt };
    const { text } = await dashboard({
      poll: { last: null, nextAt: NOON, inFlight: false, waitsSince: NOON - 9000, startFault },
    });
    expect(text).toContain(`The tracker cannot be read yet. GET /<b>: status 503 ( 2s ago ) ${next}`);
    expect(text).toContain('Waiting for the tracker');
    expect(text).not.toContain('has not answered yet');
  });

  it('says when an edit of the workflow file was rejected, and which one is in force', async () => {
    const daemon = createFakeDaemon();
    daemon.status = { ...daemon.status, rejected: { at: NOON - 8000, reason: 'agent.kind is unknown' } };
    expect(textOf((await load('/', daemon)).page)).toContain(
      'was not taken. It was rejected 8s ago ; the one before it is in force. agent.kind is unknown',
    );
  });

  it('says that an edit of the workflow file waits for its tracker', async () => {
    const daemon = createFakeDaemon();
    const rejected = { at: NOON - 8000, reason: 'the last edit waits for its tracker', isAwaited: true } as const;
    daemon.status = { ...daemon.status, rejected };
    const text = textOf((await load('/', daemon)).page);
    expect(text).toContain(
      'is not taken yet. Its tracker was asked 8s ago ; the one before it is in force. the last edit waits for its tracker',
    );
    expect(text).not.toContain('It was rejected');
  });

  it('says what keeps everything back', async () => {
    const { text } = await dashboard({
      lifecycle: 'draining',
      preflightProblem: 'agent command "claude" was not found',
      pauses: [{ agentKind: 'claude-code', until: NOON + 60_000, reason: 'Usage limit.' }],
      poll: {
        last: { at: NOON - 4000, durationMs: 5, candidates: 0, error: 'connection refused' },
        nextAt: NOON,
        inFlight: false,
      },
    });
    for (const shown of [
      'Draining',
      'Stopping. Sessions are being ended',
      'The last poll failed. connection refused ( 4s ago )',
      'Nothing is dispatched. agent command "claude" was not found',
      'claude-code is paused. Usage limit. It goes on in 1m 00s',
    ]) {
      expect(text).toContain(shown);
    }
  });
});
