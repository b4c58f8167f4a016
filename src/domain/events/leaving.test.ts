import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { isRetired } from '../decide.ts';
import type { Issue } from '../model/issue.ts';
import type { State } from '../model/state.ts';
import { inDispatchOrder } from '../rules/dispatch-order.ts';

const first = settingsWith({ tracker: { comments: { onDispatch: false, onCompletion: true, onFailure: false } } });

function answerHandoff(state: State, issueId: string) {
  const claim = state.claims.get(issueId);
  if (claim?.phase !== 'handing-off') throw new Error('no handoff is under way');
  return { type: 'handoff-answered', issueId, runId: claim.handoff.runId, outcome: { kind: 'succeeded' } } as const;
}

describe('a run keeps what it began with', () => {
  const edited = settingsWith({
    tracker: { handoffState: 'elsewhere', terminalStates: ['doing'] },
    agent: { kind: 'claude-code', maxTurns: 9 },
    rest: { tokenRates: { 'claude-code': { inputPerMtok: 1_000_000, outputPerMtok: 0, cacheReadPerMtok: null } } },
  });

  it('until it is handed off: turns, prices, agent kind, handoff state and comments', () => {
    const player = createPlayer(first);
    player.poll([issueWith({ id: '1' })]);
    const { runId } = player.state.live.get('1')!;
    player.send({ type: 'settings-changed', settings: edited });
    player.send({ type: 'turn-started', issueId: '1', runId, turn: 1, prompt: '' });
    expect(player.told('run:turn:started')).toMatchObject([{ facts: { maxTurns: first.agent.maxTurns } }]);
    const tokens = { inputTokens: 5, outputTokens: 0, totalTokens: 5, cacheReadTokens: 0 };
    player.send({ type: 'agent-spoke', issueId: '1', runId, event: { type: 'usage', tokens } });
    expect(player.state.live.get('1')?.costUsd).toBeNull();
    player.exit('1');
    expect(player.writes).toContainEqual(expect.objectContaining({ run: expect.objectContaining({ agentKind: 'mock' }) }));
    expect(player.asked('hand-off')).toMatchObject([{ handoff: { target: 'review' }, settings: first }]);
    player.send(answerHandoff(player.state, '1'));
    expect([...player.state.outbox.keys()]).toEqual([`completion:${runId}`]);
    expect(player.state.runSettings.size).toBe(0);
    player.after(1);
    const [out] = player.everAsked('write-out');
    expect(out?.settings).toBe(first);
    player.send({ type: 'outbox-answered', id: `completion:${runId}`, fault: null });
    expect(player.state.writeSettings.size).toBe(0);
  });

  it('and a limit that it meets pauses its own agent', () => {
    const player = createPlayer(first);
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'settings-changed', settings: edited });
    const fault = { kind: 'agent_usage_limit', message: 'usage limit', consequence: 'pause-agent' } as const;
    player.exit('1', { kind: 'error', fault });
    expect([...player.state.pauses.keys()]).toEqual(['mock']);
  });
});

describe('an edit while an issue is read', () => {
  it('has it read again: it may show the words of people who no longer count', () => {
    const player = createPlayer(settingsWith({ agent: { maxConcurrentAgents: 1 } }));
    player.poll([issueWith({ id: '1' }), issueWith({ id: '2' })]);
    player.exit('1');
    player.send(answerHandoff(player.state, '1'));
    expect(player.everAsked('read-candidate')).toHaveLength(1);
    const { settings } = player.state;
    player.send({ type: 'settings-changed', settings: { ...settings, tracker: { ...settings.tracker, authors: ['ann'] } } });
    const read = { ok: true, value: issueWith({ id: '2', author: { id: 'ann', names: ['ann'], mayWrite: null } }) } as const;
    player.send({ type: 'candidate-read', issueId: '2', issue: read });
    expect(player.state.live.size).toBe(0);
    player.poll([read.value]);
    expect(player.state.live.has('2')).toBe(true);
  });
});

describe('an edit while candidates are listed', () => {
  const edit = (player: Player, isSame = false): void =>
    player.send({ type: 'settings-changed', settings: { ...player.state.settings }, isSame });
  const answer = (player: Player, issue: Issue, states: Readonly<Record<string, string>> = {}): void =>
    player.send({
      type: 'poll-answered',
      candidates: { ok: true, value: inDispatchOrder([issue]) },
      states: { ok: true, value: new Map(Object.entries(states)) },
      preflightProblem: null,
    });

  it('has them listed anew: the list may hold issues that the new settings leave out', () => {
    const player = createPlayer(settingsWith());
    player.poll([issueWith({ id: '1' })]);
    player.after(30_000);
    edit(player);
    answer(player, issueWith({ id: '2' }), { 1: 'done' });
    expect(player.asked('stop-run')).toMatchObject([{ issueId: '1', reason: 'terminal' }]);
    expect(player.everAsked('start-run')).toHaveLength(1);
    player.after(0);
    expect(player.asked('poll')).toHaveLength(1);
    answer(player, issueWith({ id: '3' }));
    expect(player.state.live.has('3')).toBe(true);
  });

  it('the same where their blockers are read by then', () => {
    const player = createPlayer(settingsWith());
    player.poll([issueWith({ id: '1', blockedBy: null })]);
    expect(player.asked('read-blockers')).toHaveLength(1);
    edit(player);
    player.send({ type: 'blockers-answered', blockers: new Map([['1', { ok: true, value: [] }]]) });
    expect(player.state.live.size).toBe(0);
    player.after(0);
    expect(player.asked('poll')).toHaveLength(1);
  });

  it('what waits for a slot is not started from the list before either', () => {
    const player = createPlayer(settingsWith({ agent: { maxConcurrentAgents: 1 } }));
    player.poll([issueWith({ id: '1' }), issueWith({ id: '2' })]);
    edit(player);
    player.exit('1');
    player.send(answerHandoff(player.state, '1'));
    expect(player.everAsked('read-candidate')).toEqual([]);
  });

  it('but an edit that says the same drops none', () => {
    const player = createPlayer(settingsWith());
    player.after(0);
    edit(player, true);
    answer(player, issueWith({ id: '1' }));
    expect(player.state.live.has('1')).toBe(true);
  });
});

describe('a tracker that is no longer watched', () => {
  it('hears that the service was paused meanwhile, for when it comes back', () => {
    const player = createPlayer(first);
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'tracker-left' });
    player.send({ type: 'service-paused', pause: { reason: 'release day', by: 'somebody', since: 1 } });
    player.send({ type: 'settings-changed', settings: first });
    player.poll([issueWith({ id: '1' }), issueWith({ id: '2' })]);
    expect(player.state.holds.get('2')?.reason).toBe('paused');
    player.send({ type: 'service-paused', pause: null });
    player.poll([issueWith({ id: '1' }), issueWith({ id: '2' })]);
    expect(player.state.live.has('2')).toBe(true);
  });

  it('brings its runs to their end, begins nothing, and is retired when all is written', () => {
    const player = createPlayer(first);
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'tracker-left' });
    expect(isRetired(player.state)).toBe(false);
    player.after(30_000);
    expect(player.asked('poll')).toMatchObject([{ lookups: ['1'], onlyStates: true }]);
    player.exit('1');
    expect(player.asked('hand-off')).toHaveLength(1);
    player.send(answerHandoff(player.state, '1'));
    expect(isRetired(player.state)).toBe(false);
    player.after(1);
    const [out] = player.asked('write-out');
    player.send({ type: 'outbox-answered', id: out!.entry.id, fault: null });
    expect(isRetired(player.state)).toBe(true);
  });

  it('stops a session whose issue is finished there, and takes nothing new', () => {
    const player = createPlayer(first);
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'tracker-left' });
    player.poll([issueWith({ id: '2' })], { 1: 'done' });
    expect(player.asked('stop-run')).toMatchObject([{ issueId: '1', reason: 'terminal' }]);
    expect([...player.state.claims.keys()]).toEqual(['1']);
    expect(player.state.poll.nextAt).toBeGreaterThan(player.now);
  });

  it('keeps a failed run for the day it is watched again', () => {
    const player = createPlayer(first);
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'tracker-left' });
    player.exit('1', { kind: 'error', fault: { kind: 'turn_failed', message: 'broken', consequence: 'back-off' } });
    player.after(86_400_000);
    expect(player.asked('read-issue')).toEqual([]);
    expect(isRetired(player.state)).toBe(true);
    player.send({ type: 'settings-changed', settings: first });
    expect(player.asked('read-issue')).toMatchObject([{ issueId: '1' }]);
  });

  it('leaves its slots taken while its sessions run', () => {
    const player = createPlayer(settingsWith({ agent: { maxConcurrentAgents: 2 } }));
    player.send({ type: 'sessions-elsewhere', running: 1 });
    player.poll([issueWith({ id: '1' }), issueWith({ id: '2' })]);
    expect([...player.state.live.keys()]).toEqual(['1']);
  });
});
