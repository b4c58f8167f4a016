import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith, refWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import type { Fault } from '../model/fault.ts';

const FAULT: Fault = { kind: 'turn_failed', message: 'agent: turn_failed: it broke', consequence: 'back-off' };
describe('after a run', () => {
  function running(parts: Parameters<typeof settingsWith>[0] = {}) {
    const player = createPlayer(settingsWith(parts));
    player.poll([issueWith({ id: '1' })]);
    return player;
  }

  it('hands off when a handoff state is set, and releases when the tracker has it', () => {
    const player = running();
    player.exit('1');
    expect(player.asked('hand-off')[0]?.handoff).toEqual({ runId: 'run-1', target: 'review' });
    player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome: { kind: 'succeeded' } });
    expect(player.state.claims.size).toBe(0);
  });

  it('is cancelled, and no failure, when a person stopped it or its issue is over', () => {
    const stopped = running();
    stopped.operator({ kind: 'stop', identifier: issueWith({ id: '1' }).identifier });
    stopped.exit('1', { kind: 'cancelled' });
    expect(stopped.told('run:worker:exited')).toMatchObject([{ facts: { exitKind: 'cancelled', status: 'cancelled' } }]);
    const over = running();
    over.poll([], { '1': 'done' });
    over.exit('1', { kind: 'cancelled' });
    expect(over.told('run:worker:exited')).toMatchObject([{ facts: { exitKind: 'cancelled', status: 'cancelled' } }]);
  });

  describe('with comments on its start and its failure', () => {
    const comments = { onDispatch: true, onCompletion: false, onFailure: true };
    const commentsOf = ({ state }: Player) =>
      [...state.outbox.values()].flatMap(({ write }) => (write.kind === 'comment' ? [write.text] : []));
    const started = (run: number) => `Foray started work on this issue (run run-${run}).`;
    const goOn = (player: Player, ms: number) => {
      player.after(ms);
      player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1' }) } });
      expect(player.asked('start-run')).toHaveLength(1);
    };

    it('a usage limit says nothing, and neither does the run that goes on after it', () => {
      const player = running({ tracker: { comments } });
      player.exit('1', { kind: 'error', fault: { ...FAULT, kind: 'agent_usage_limit', consequence: 'pause-agent' } });
      goOn(player, 15 * 60_000);
      expect(commentsOf(player)).toEqual([started(1)]);
    });

    it('a failure says so, and so does the next try', () => {
      const player = running({ tracker: { comments } });
      player.exit('1', { kind: 'error', fault: FAULT });
      goOn(player, 60_000);
      expect(commentsOf(player)).toEqual([started(1), "Foray's run run-1 on this issue failed: turn_failed.", started(2)]);
    });
  });

  it('continues after a second without a handoff state, with the conversation kept', () => {
    const player = running({ tracker: { handoffState: null } });
    player.send({ type: 'session-started', issueId: '1', runId: 'run-1', sessionId: 's-1' });
    player.exit('1');
    expect(player.state.claims.get('1')).toMatchObject({
      phase: 'waiting',
      attempt: 1,
      sessionId: 's-1',
      dueAt: player.now + 1_000,
    });
  });

  it('continues when the handoff is refused for lack of permission, and waits longer at each further refusal', () => {
    const player = running();
    const refused = { kind: 'failed', fault: { ...FAULT, kind: 'tracker_auth_error' } } as const;
    player.exit('1');
    player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome: refused });
    expect(player.state.claims.get('1')).toMatchObject({ phase: 'waiting', dueAt: player.now + 1_000, then: { kind: 'run' } });
    player.after(1_000);
    player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1' }) } });
    player.exit('1');
    player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-2', outcome: refused });
    const claim = player.state.claims.get('1');
    expect(claim?.phase === 'waiting' && claim.dueAt - player.now).toBeGreaterThanOrEqual(10_000);
  });

  it('tries only the handoff again when the tracker fails it otherwise', () => {
    const player = running();
    player.exit('1');
    expect(player.asked('hand-off')).toMatchObject([{ begun: false }]);
    player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome: { kind: 'failed', fault: FAULT } });
    expect(player.state.claims.get('1')).toMatchObject({ phase: 'waiting', error: FAULT.message, then: { kind: 'handoff' } });
    player.after(12_000);
    expect(player.asked('hand-off')).toMatchObject([{ begun: true }]);
    expect(player.asked('start-run')).toHaveLength(0);
  });

  describe('that ended well, with agent.max_attempts 2', () => {
    const failed = (kind: Fault['kind']) => ({ kind: 'failed', fault: { ...FAULT, kind } }) as const;
    const refuse = (player: Player, runId: string) =>
      player.send({ type: 'handoff-answered', issueId: '1', runId, outcome: failed('tracker_auth_error') });
    const runAgain = (player: Player) => {
      player.after(12_000);
      player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1' }) } });
    };

    it('counts no failure before it, where the tracker refused its handoff', () => {
      const player = running({ agent: { maxAttempts: 2 } });
      player.exit('1', { kind: 'error', fault: FAULT });
      runAgain(player);
      player.exit('1');
      refuse(player, 'run-2');
      runAgain(player);
      player.exit('1', { kind: 'error', fault: FAULT });
      expect(player.state.parked.size).toBe(0);
      runAgain(player);
      player.exit('1', { kind: 'error', fault: FAULT });
      expect(player.state.parked.get('1')?.detail).toMatch(/^2 of 2 attempts failed/);
    });

    it('counts no try of its handoff', () => {
      const player = running({ agent: { maxAttempts: 2 } });
      player.exit('1');
      player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome: failed('tracker_transport_error') });
      player.after(12_000);
      refuse(player, 'run-1');
      runAgain(player);
      player.exit('1', { kind: 'error', fault: FAULT });
      expect(player.state.parked.size).toBe(0);
    });

    it('waits for the first time for its handoff, whatever failed before it', () => {
      const player = running();
      player.exit('1', { kind: 'error', fault: FAULT });
      runAgain(player);
      player.exit('1');
      player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-2', outcome: failed('tracker_transport_error') });
      const claim = player.state.claims.get('1');
      expect(claim?.phase === 'waiting' && claim.dueAt - player.now).toBeLessThanOrEqual(11_000);
    });
  });

  it('backs off from 10 s, doubling, capped, with at most a tenth more', () => {
    const player = running({ agent: { maxRetryBackoffMs: 30_000 } });
    for (const expected of [10_000, 20_000, 30_000, 30_000]) {
      player.exit('1', { kind: 'error', fault: FAULT });
      const claim = player.state.claims.get('1');
      const delay = claim?.phase === 'waiting' ? claim.dueAt - player.now : 0;
      expect(delay).toBeGreaterThanOrEqual(expected);
      expect(delay).toBeLessThanOrEqual(expected * 1.1);
      player.after(delay);
      player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1' }) } });
    }
  });

  it.each([
    ['a person is needed', { ...FAULT, consequence: 'park' } as const, 'needs_person'],
    ['the agent refused', { ...FAULT, kind: 'agent_refused', consequence: 'park' } as const, 'refused'],
  ])('parks when %s', (_name, fault, reason) => {
    const player = running();
    player.exit('1', { kind: 'error', fault });
    expect(player.state.parked.get('1')?.reason).toBe(reason);
    expect(player.state.claims.size).toBe(0);
  });

  it('parks when the attempts are used up', () => {
    const player = running({ agent: { maxAttempts: 1 } });
    player.exit('1', { kind: 'error', fault: FAULT });
    expect(player.state.parked.get('1')?.reason).toBe('out_of_attempts');
  });

  it('pauses the agent at a usage limit instead of burning attempts', () => {
    const player = running();
    player.exit('1', { kind: 'error', fault: { ...FAULT, consequence: 'pause-agent', resetsAt: player.now + 90_000 } });
    expect(player.state.claims.get('1')).toMatchObject({ failures: 0, dueAt: player.now + 90_000 });
    player.poll([issueWith({ id: '2' })]);
    expect(player.state.holds.get('2')?.reason).toBe('agent_paused');
    player.after(90_000);
    expect(player.state.pauses.size).toBe(0);
  });

  it.each([
    ['is past', -1, 60_000],
    ['is now', 0, 60_000],
    ['is near', 5_000, 5_000],
  ])('rests for a minute where the moment that was named is over: one that %s', (_what, resetsInMs, restsMs) => {
    const player = running();
    const fault = { ...FAULT, consequence: 'pause-agent', resetsAt: player.now + resetsInMs } as const;
    player.exit('1', { kind: 'error', fault });
    expect([...player.state.pauses.values()]).toMatchObject([{ until: player.now + restsMs }]);
    expect(player.state.claims.get('1')).toMatchObject({ dueAt: player.now + restsMs });
  });

  it('keeps the longer of two limits, and what waits for the shorter one waits as long', () => {
    const limit = { ...FAULT, consequence: 'pause-agent' } as const;
    const player = createPlayer();
    player.poll(['1', '2', '3'].map((id) => issueWith({ id })));
    const until = player.now + 7_200_000;
    player.exit('1', { kind: 'error', fault: { ...limit, resetsAt: player.now + 5_000 } });
    player.exit('2', { kind: 'error', fault: { ...limit, message: 'resets in 2 h', resetsAt: until } });
    player.exit('3', { kind: 'error', fault: { ...limit, message: 'too many', resetsAt: player.now + 60_000 } });
    expect([...player.state.pauses.values()]).toMatchObject([{ until, reason: 'resets in 2 h' }]);
    expect([...player.state.claims.values()]).toMatchObject([{ dueAt: until }, { dueAt: until }, { dueAt: until }]);
    expect(player.everTold('agent:kind:paused')).toHaveLength(2);
    player.after(7_199_000);
    expect(player.state.pauses.size).toBe(1);
  });

  it.each([
    ['blocked', 'blocked'],
    ['needs-human-review', null],
    ['no-change-needed', null],
  ] as const)('the word %s', (word, parked) => {
    const player = running();
    player.exit('1', { status: { word, statement: 'because' } });
    expect(player.state.parked.get('1')?.reason ?? null).toBe(parked);
    expect([...player.state.outbox.values()][0]?.write).toMatchObject({ kind: 'comment' });
    expect(player.asked('hand-off')).toHaveLength(parked ? 0 : 1);
  });

  it('sends an issue that needs no change to its own state', () => {
    const player = running({ tracker: { noChangeState: 'done' } });
    player.exit('1', { status: { word: 'no-change-needed', statement: '' } });
    expect(player.asked('hand-off')[0]?.handoff.target).toBe('done');
  });

  it('does not overwrite a terminal issue, and removes its workspace', () => {
    const player = running();
    player.send({ type: 'state-seen', issueId: '1', runId: 'run-1', state: 'done' });
    player.exit('1');
    expect(player.asked('hand-off')).toHaveLength(0);
    expect(player.asked('remove-workspace')).toHaveLength(1);
  });

  it('keeps the workspace of an issue that was reopened while its run was being stopped', () => {
    const player = running();
    player.poll([], { 1: 'done' });
    expect(player.asked('stop-run')).toMatchObject([{ reason: 'terminal' }]);
    player.poll([issueWith({ id: '1' })], { 1: 'todo' });
    player.exit('1', { kind: 'cancelled' });
    expect(player.asked('remove-workspace')).toEqual([]);
    expect(player.state.claims.size).toBe(0);
    player.poll([issueWith({ id: '1' })]);
    expect(player.asked('start-run')).toHaveLength(1);
  });

  it('removes the workspace of an issue that was finished while its run was being stopped', () => {
    const player = running();
    player.poll([], { 1: 'somewhere else' });
    player.poll([], { 1: 'done' });
    player.exit('1', { kind: 'cancelled' });
    expect(player.asked('remove-workspace')).toMatchObject([{ why: 'the issue is terminal' }]);
  });

  it('parks an issue that an operator stopped and that was reopened meanwhile', () => {
    const player = running();
    player.poll([], { 1: 'done' });
    player.operator({ kind: 'stop', identifier: 'T-1' });
    player.poll([issueWith({ id: '1' })], { 1: 'todo' });
    player.exit('1', { kind: 'cancelled' });
    expect(player.state.parked.get('1')?.reason).toBe('stopped_by_operator');
  });

  it('starts no run while the workspace of the last one is being removed', () => {
    const player = running();
    player.send({ type: 'state-seen', issueId: '1', runId: 'run-1', state: 'done' });
    player.exit('1');
    player.poll([issueWith({ id: '1' })]);
    expect(player.asked('start-run')).toHaveLength(0);
    expect(player.state.holds.get('1')?.reason).toBe('removing_workspace');
    const about = { issueId: '1', identifier: 'T-1', why: 'terminal', path: '/workspaces/T-1', aside: null };
    player.send({ type: 'workspace-removed', ...about, outcome: { ok: true, value: true } });
    player.poll([issueWith({ id: '1' })]);
    expect(player.asked('start-run')).toHaveLength(1);
  });

  it('tells once why a workspace stays, with its place, and again when the cause is another or it was gone', () => {
    const player = running();
    player.send({ type: 'run-prepared', issueId: '1', runId: 'run-1', workspacePath: 'w1:/ws/T-1' });
    const kept = () =>
      player.asked('announce').flatMap(({ notice }) => (notice.name === 'workspace:directory:kept' ? notice.facts : []));
    const about = { issueId: '1', identifier: 'T-1', why: 'terminal', path: '', aside: null };
    const told = (message: string): number => {
      const fault = { kind: 'workspace_error', message, consequence: 'back-off' } as const;
      player.send({ type: 'workspace-removed', ...about, outcome: { ok: false, fault } });
      return kept().length;
    };
    expect(told('w1 is not there')).toBe(1);
    expect(kept()).toMatchObject([{ workspace: 'w1:/ws/T-1', error: 'w1 is not there' }]);
    expect(told('w1 is not there')).toBe(0);
    expect(told('the disk is full')).toBe(1);
    player.send({ type: 'workspace-removed', ...about, outcome: { ok: true, value: true } });
    expect(told('the disk is full')).toBe(1);
  });

  it('ignores the exit of an older run', () => {
    const player = running();
    const exit = { kind: 'normal', turns: 1, fault: null, status: null, scm: null } as const;
    player.send({ type: 'run-exited', issueId: '1', runId: 'run-0', exit });
    expect(player.state.live.has('1')).toBe(true);
  });
});
describe('budgets', () => {
  const tokens = { inputTokens: 900, outputTokens: 200, totalTokens: 1_100, cacheReadTokens: 0 };

  it('stops a session over its tokens and parks the issue', () => {
    const player = createPlayer(settingsWith({ agent: { maxTokens: 1_000 } }));
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'agent-spoke', issueId: '1', runId: 'run-1', event: { type: 'usage', tokens } });
    expect(player.asked('stop-run')[0]?.reason).toBe('token_budget');
    player.exit('1', { kind: 'cancelled' });
    expect(player.state.parked.get('1')?.reason).toBe('token_budget');
  });

  it.each([
    [2, '2.50 USD used (agent.max_cost_usd is 2)', 2.5],
    [0.000_02, '0.000025 USD used (agent.max_cost_usd is 0.00002)', 0.000_025],
  ])('tells what was used of %d USD', (maxCostUsd, detail, costUsd) => {
    const player = createPlayer(settingsWith({ agent: { maxCostUsd } }));
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'agent-spoke', issueId: '1', runId: 'run-1', event: { type: 'usage', tokens, costUsd } });
    player.exit('1', { kind: 'cancelled' });
    expect(player.state.parked.get('1')).toMatchObject({ reason: 'cost_budget', detail });
  });

  it('lets a session end that used just its budget, and dispatches no other', () => {
    const player = createPlayer(settingsWith({ agent: { maxTokens: 1_100 } }));
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'agent-spoke', issueId: '1', runId: 'run-1', event: { type: 'usage', tokens } });
    expect(player.asked('stop-run')).toEqual([]);
    const fault = { kind: 'turn_failed', message: 'agent: turn_failed: 500', consequence: 'back-off' } as const;
    player.exit('1', { kind: 'error', fault });
    expect(player.state.parked.has('1')).toBe(false);
    player.after(600_000);
    player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1' }) } });
    expect(player.state.parked.get('1')?.reason).toBe('token_budget');
  });

  it('parks at dispatch what has used its sessions; a person lets it run again', () => {
    const spent = [{ issueId: '1', sessions: 2, tokens: 0, costUsd: 0 }];
    const player = createPlayer(settingsWith({ agent: { maxSessions: 2 } }), { ...NOTHING_DURABLE, spent });
    player.poll([issueWith({ id: '1' })]);
    expect(player.state.parked.get('1')?.reason).toBe('session_budget');
    player.operator({ kind: 'unpark', identifier: 't-1' });
    player.poll([issueWith({ id: '1' })]);
    expect(player.asked('start-run')).toHaveLength(1);
  });

  it('a change of the tracker state releases a parked issue', () => {
    const parked = [{ issue: refWith({ id: '1' }), reason: 'blocked', detail: '', parkedAt: 0, stateAtPark: 'todo' }] as const;
    const player = createPlayer(settingsWith(), { ...NOTHING_DURABLE, parked });
    player.poll([issueWith({ id: '1', state: 'todo' })], { 1: 'todo' });
    expect(player.state.holds.get('1')?.reason).toBe('parked');
    player.poll([issueWith({ id: '1', state: 'doing' })], { 1: 'doing' });
    expect(player.asked('start-run')).toHaveLength(1);
  });

  it('counts a report that comes again or goes back only once', () => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1' })]);
    for (const total of [1_100, 1_100, 500, 1_200]) {
      const event = { type: 'usage', tokens: { ...tokens, totalTokens: total, inputTokens: total - 200 } } as const;
      player.send({ type: 'agent-spoke', issueId: '1', runId: 'run-1', event });
    }
    expect(player.state.totals.tokens.totalTokens).toBe(1_200);
    expect(player.state.spent.get('1')?.tokens).toBe(1_200);
  });
});
