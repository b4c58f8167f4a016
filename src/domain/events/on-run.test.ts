import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { NO_TOKENS, type AgentEvent } from '../model/agent-event.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import type { FaultKind } from '../model/errors.ts';
import type { RunEvent } from '../model/run.ts';
import { runningView } from '../views/running-view.ts';

const ids = { issueId: '1', runId: 'run-1' };
const TOKENS = { inputTokens: 80, outputTokens: 20, totalTokens: 100, cacheReadTokens: 0 };

function running(): Player {
  const player = createPlayer(settingsWith({ agent: { maxRecordedBytes: 70_000 } }));
  player.poll([issueWith({ id: '1' })]);
  return player;
}

function say(player: Player, event: AgentEvent): void {
  player.send({ type: 'agent-spoke', ...ids, event });
}

function recorded(player: Player): readonly RunEvent[] {
  return player.state.live.get('1')?.unsavedEvents ?? [];
}

describe('what a run said last', () => {
  const lastMessage = (player: Player): string | undefined => player.state.live.get('1')?.lastMessage;

  it('is not that it waits once it was given to a host', () => {
    const player = running();
    say(player, { type: 'notice', text: 'waits in the queue for a worker: all slots are taken' });
    player.send({ type: 'workspace-chosen', ...ids, workspacePath: '', host: 'gpu1' });
    expect(lastMessage(player)).toBe('');
    say(player, { type: 'notice', text: 'the workspace does not come along' });
    player.send({ type: 'workspace-chosen', ...ids, workspacePath: '/srv/A-1', host: 'gpu1' });
    player.send({ type: 'session-started', ...ids, sessionId: 's-1' });
    expect(lastMessage(player)).toBe('the workspace does not come along');
  });
});

describe('what is recorded of a run', () => {
  it('keeps the prompt of each turn', () => {
    const player = running();
    player.send({ type: 'turn-started', ...ids, turn: 1, prompt: 'mend it' });
    expect(recorded(player).at(-1)).toMatchObject({
      type: 'turn_started',
      text: '',
      details: { kind: 'turn', turn: 1, prompt: 'mend it' },
    });
    expect(player.told('run:agent:spoke')[0]?.facts).toMatchObject({ details: { prompt: 'mend it' } });
  });

  it('is stored within a second of its start, and then every five', () => {
    const player = running();
    player.send({ type: 'turn-started', ...ids, turn: 1, prompt: 'mend it' });
    const stored = (): number => player.writes.filter(({ write }) => write === 'run-events').length;
    const storedAfter = [900, 100, 4_900, 100].map((ms) => {
      say(player, { type: 'message', text: 'on it' });
      player.after(ms);
      return stored();
    });
    expect(storedAfter).toEqual([0, 1, 0, 1]);
  });

  it('has the figures that the budget counts, in one unit of work with them', () => {
    const player = running();
    say(player, { type: 'usage', tokens: TOKENS });
    expect(player.writes).toMatchObject([
      { write: 'spent', spent: { tokens: 100 } },
      { write: 'run', run: { id: 'run-1', status: 'running', tokens: TOKENS, tokensMeasured: true } },
    ]);
    say(player, { type: 'usage', tokens: TOKENS });
    expect(player.writes).toEqual([]);
  });

  it.each([
    ['a fraction', { ...TOKENS, totalTokens: 100.4 }, 100],
    ['more than any column holds', { ...TOKENS, totalTokens: 1e20 }, 1e12],
    ['without end', { ...TOKENS, totalTokens: Infinity }, 1e12],
    ['less than nothing', { ...TOKENS, totalTokens: -5 }, 0],
    ['no number', { ...TOKENS, totalTokens: Number.NaN }, 0],
  ])('has figures that can be stored where the agent tells %s', (_name, tokens, stored) => {
    const player = running();
    say(player, { type: 'usage', tokens, requests: 1.5, costUsd: 1e308 });
    const writes = [
      { write: 'spent', spent: { tokens: stored, costUsd: 0 } },
      { write: 'run', run: { tokens: { ...TOKENS, totalTokens: stored }, costUsd: null } },
    ];
    expect(player.writes).toMatchObject(stored === 0 ? [] : writes);
    expect(player.state.live.get('1')?.requests).toBe(2);
  });

  it('adds up to no more than a database keeps, over all runs of the issue', () => {
    const spent = { issueId: '1', sessions: 0, tokens: Number.MAX_SAFE_INTEGER - 1, costUsd: 0 };
    const player = createPlayer(settingsWith(), { ...NOTHING_DURABLE, spent: [spent] });
    player.poll([issueWith({ id: '1' })]);
    say(player, { type: 'usage', tokens: TOKENS });
    expect(player.writes).toMatchObject([{ write: 'spent', spent: { tokens: Number.MAX_SAFE_INTEGER } }, { write: 'run' }]);
  });

  it('takes its own clock where the agent tells no duration that can be stored', () => {
    const player = running();
    say(player, { type: 'tool_started', toolId: 't1', name: 'Bash' });
    player.now += 20;
    say(player, { type: 'tool_ended', toolId: 't1', name: 'Bash', ok: true, durationMs: Infinity });
    expect(recorded(player).at(-1)).toMatchObject({ details: { durationMs: 20 } });
  });

  it('counts the time in tools once where calls overlap', () => {
    const player = running();
    const call = (toolId: string) => ({ toolId, name: 'Bash' });
    const ended = { type: 'tool_ended', ok: true } as const;
    const share = () => runningView(player.state.live.get('1')!, player.now).toolTimePercent;
    for (const id of ['a', 'b', 'c']) say(player, { type: 'tool_started', ...call(id) });
    player.now += 1_000;
    expect(share()).toBeNull();
    say(player, { ...ended, ...call('a') });
    player.now += 1_000;
    say(player, { ...ended, ...call('b') });
    say(player, { ...ended, ...call('c') });
    player.now += 2_000;
    say(player, { type: 'tool_started', ...call('d') });
    say(player, { ...ended, ...call('d') });
    expect(share()).toBe(50);
    expect(recorded(player).flatMap(({ details }) => (details?.kind === 'result' ? [details.durationMs] : []))).toEqual([
      1_000, 2_000, 2_000, 0,
    ]);
  });

  it('keeps what a tool was called with, what it gave back and how long it took', () => {
    const player = running();
    say(player, { type: 'tool_started', toolId: 't1', name: 'Bash', input: 'npm test' });
    player.now += 1_500;
    say(player, { type: 'tool_ended', toolId: 't1', name: 'Bash', ok: false, output: '1 failed' });
    const call = { toolId: 't1', name: 'Bash', input: 'npm test' };
    expect(recorded(player)).toMatchObject([
      { type: 'tool_started', text: 'Bash: npm test', details: { kind: 'call', ...call } },
      {
        type: 'tool_ended',
        text: 'Bash: npm test failed',
        details: { kind: 'result', ...call, ok: false, durationMs: 1_500, output: '1 failed' },
      },
    ]);
  });

  it('keeps the figures as they grow: now and then, and at the end of a turn', () => {
    const player = running();
    const figures = (totalTokens: number) => ({ type: 'usage', tokens: { ...TOKENS, totalTokens } }) as const;
    for (const total of [100, 200, 300]) say(player, figures(total));
    player.send({ type: 'turn-completed', ...ids, turn: 1 });
    player.send({ type: 'turn-completed', ...ids, turn: 2 });
    const usages = recorded(player).filter((event) => event.type === 'usage');
    expect(usages.map((event) => event.details)).toMatchObject([
      { kind: 'usage', tokens: { totalTokens: 100 } },
      { kind: 'usage', tokens: { totalTokens: 300 } },
    ]);
  });

  it('loses none of a burst: what has gathered is stored at once, within the bytes of the run', () => {
    const player = running();
    let stored = 0;
    for (let index = 0; index < 450; index += 1) {
      say(player, { type: 'notice', text: `n${index}` });
      for (const write of player.writes) {
        if (write.write !== 'run-events') continue;
        stored += write.events.length;
        expect(write.maxBytes).toBe(70_000);
      }
    }
    expect(stored + recorded(player).length).toBe(450);
    expect(stored).toBeGreaterThan(0);
  });

  it('takes a sign of life as one, and records nothing', () => {
    const player = running();
    player.send({ type: 'turn-started', ...ids, turn: 1 });
    const before = recorded(player).length;
    player.after(299_000);
    say(player, { type: 'alive' });
    player.after(299_000);
    expect(player.asked('stop-run')).toEqual([]);
    expect(recorded(player).length).toBeLessThanOrEqual(before);
    player.after(1_000);
    expect(player.asked('stop-run')).toMatchObject([{ reason: 'stalled' }]);
  });
});

describe('silence in a turn', () => {
  const call = { toolId: 't1', name: 'Bash' };

  it('is no stall while a tool call is under way, but has a limit of its own', () => {
    const player = createPlayer(settingsWith({ agent: { stallTimeoutMs: 1_000, toolTimeoutMs: 10_000 } }));
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'turn-started', ...ids, turn: 1 });
    say(player, { type: 'tool_started', ...call });
    player.after(9_000);
    expect(player.asked('stop-run')).toEqual([]);
    player.after(1_000);
    expect(player.asked('stop-run')).toMatchObject([{ reason: 'tool_timeout' }]);
  });

  it('is one again after the call', () => {
    const player = createPlayer(settingsWith({ agent: { stallTimeoutMs: 1_000, toolTimeoutMs: 10_000 } }));
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'turn-started', ...ids, turn: 1 });
    say(player, { type: 'tool_started', ...call });
    say(player, { type: 'tool_ended', ...call, ok: true });
    player.after(1_000);
    expect(player.asked('stop-run')).toMatchObject([{ reason: 'stalled' }]);
  });
});

describe('what a run costs', () => {
  const usage = (millions: number, costUsd?: number): AgentEvent => ({
    type: 'usage',
    tokens: { inputTokens: millions * 1e6, outputTokens: 0, totalTokens: millions * 1e6, cacheReadTokens: 0 },
    ...(costUsd === undefined ? {} : { costUsd }),
  });
  const costing = (maxCostUsd: number, model: string): Player => {
    const player = createPlayer(settingsWith({ agent: { maxCostUsd } }));
    player.poll([issueWith({ id: '1' })]);
    say(player, { type: 'session_started', sessionId: 's', model });
    return player;
  };
  const cost = (player: Player) => player.state.live.get('1')?.costUsd;

  it('is the list price of its model until the agent tells it, and what it tells is taken', () => {
    const player = costing(0, 'claude-sonnet-4-5');
    say(player, usage(1));
    expect(cost(player)).toBe(3);
    say(player, usage(1, 2.5));
    expect(cost(player)).toBe(2.5);
    expect(player.state.spent.get('1')?.costUsd).toBe(2.5);
    say(player, usage(2, 2.5));
    expect(cost(player)).toBe(5.5);
  });

  it('takes tokens that are told after the price they belong to for paid, once the turn is settled', () => {
    const player = costing(0, 'claude-sonnet-4-5');
    say(player, usage(0, 2.5));
    say(player, usage(1, 2.5));
    expect(cost(player)).toBe(5.5);
    say(player, { ...usage(1, 2.5), costIsSettled: true } as AgentEvent);
    expect([cost(player), player.state.spent.get('1')?.costUsd]).toEqual([2.5, 2.5]);
  });

  it('is counted once and never taken back: what is told at once, what is guessed at the end', () => {
    const player = costing(0, 'claude-sonnet-4-5');
    const counted = (): readonly number[] =>
      player.everTold('run:cost:counted').map(({ facts }) => (facts as { costUsd: number }).costUsd);
    say(player, usage(1));
    expect(counted()).toEqual([]);
    say(player, usage(1, 2.5));
    say(player, usage(2, 2.5));
    expect(counted()).toEqual([2.5]);
    player.exit('1');
    expect(counted()).toEqual([2.5, 3]);
  });

  it('is unknown for an unknown model, unless a ceiling has to be kept', () => {
    const free = costing(0, 'llama');
    say(free, usage(1));
    expect(cost(free)).toBeNull();
    const limited = costing(4, 'llama');
    say(limited, usage(1));
    expect(limited.asked('stop-run')).toMatchObject([{ reason: 'cost_budget' }]);
  });

  it('keeps the price of what was used before another model took over, and the ceiling with it', () => {
    const player = costing(8, 'gpt-5-pro');
    say(player, usage(0.5));
    expect(cost(player)).toBe(7.5);
    for (const model of ['gpt-5-mini', 'gpt-5-mini']) say(player, { type: 'session_started', sessionId: 's', model });
    say(player, usage(0.5));
    expect([cost(player), player.state.spent.get('1')?.costUsd]).toEqual([7.5, 7.5]);
    say(player, usage(1.5));
    expect(cost(player)).toBe(7.75);
    say(player, usage(2.6));
    expect(player.asked('stop-run')).toMatchObject([{ reason: 'cost_budget' }]);
    say(player, usage(2.6, 6));
    expect(cost(player)).toBe(6);
  });

  it('is priced as a whole once its model becomes known', () => {
    const player = createPlayer(settingsWith({ agent: { maxCostUsd: 50 } }));
    player.poll([issueWith({ id: '1' })]);
    say(player, usage(1));
    expect(cost(player)).toBe(5);
    say(player, { type: 'session_started', sessionId: 's', model: 'gpt-5-pro' });
    say(player, usage(1));
    expect(cost(player)).toBe(15);
  });

  it('stops a session within its turn once it is over its budget', () => {
    const player = costing(3, 'claude-sonnet-4-5');
    for (const millions of [0.1, 0.3, 1]) say(player, usage(millions));
    expect(player.asked('stop-run')).toEqual([]);
    say(player, usage(1.001));
    expect(player.asked('stop-run')).toMatchObject([{ reason: 'cost_budget' }]);
  });

  it('counts what is only guessed for ceilings alone', () => {
    const player = createPlayer(settingsWith({ agent: { maxTokens: 1_000 } }));
    player.poll([issueWith({ id: '1' })]);
    say(player, { type: 'usage', tokens: { ...TOKENS, totalTokens: 100 }, estimatedTokens: 900 });
    expect(player.asked('stop-run')).toEqual([]);
    say(player, { type: 'usage', tokens: { ...TOKENS, totalTokens: 100 }, estimatedTokens: 901 });
    expect(player.asked('stop-run')).toMatchObject([{ reason: 'token_budget' }]);
    expect(player.state.spent.get('1')?.tokens).toBe(100);
  });

  it.each<[string, { maxTokens?: number; maxCostUsd?: number }, AgentEvent[], unknown[]]>([
    ['tells nothing', { maxTokens: 1, maxCostUsd: 1 }, [], [{ facts: { keys: ['agent.max_tokens', 'agent.max_cost_usd'] } }]],
    [
      'tells only a cost',
      { maxTokens: 1, maxCostUsd: 9 },
      [{ type: 'usage', tokens: NO_TOKENS, costUsd: 1 }],
      [{ facts: { keys: ['agent.max_tokens'] } }],
    ],
    ['tells its tokens', { maxTokens: 1e9, maxCostUsd: 9 }, [usage(0.001)], []],
    ['tells nothing and has no ceiling', {}, [], []],
  ])('with an agent that %s: whether a ceiling has no effect is told once', (_name, agent, said, told) => {
    const player = createPlayer(settingsWith({ agent }));
    player.poll([issueWith({ id: '1' })]);
    for (const event of said) say(player, event);
    for (const turn of [1, 2]) player.send({ type: 'turn-completed', ...ids, turn });
    expect(player.everTold('run:ceiling:blind')).toMatchObject(told);
  });

  it('is handed to the run as what is left', () => {
    const spent = [{ issueId: '1', sessions: 1, tokens: 0, costUsd: 1.5 }];
    const player = createPlayer(settingsWith({ agent: { maxCostUsd: 4 } }), { ...NOTHING_DURABLE, spent });
    player.poll([issueWith({ id: '1' })]);
    expect(player.asked('start-run')[0]?.plan.costLeftUsd).toBe(2.5);
  });
});

describe('the conversation of a run that failed', () => {
  const fault = { kind: 'turn_failed', message: 'agent: turn_failed: 500', consequence: 'back-off' } as const;
  const failing = (kinds: readonly FaultKind[]): (string | null | undefined)[] => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1' })]);
    return kinds.map((kind, index) => {
      const runId = `run-${index + 1}`;
      player.send({ type: 'session-started', issueId: '1', runId, sessionId: `s${index + 1}` });
      player.exit('1', { kind: 'error', fault: { ...fault, kind } });
      const claim = player.state.claims.get('1');
      player.after(600_000);
      player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1' }) } });
      return claim?.sessionId;
    });
  };

  it('goes on with the first retry, and a new one begins with the second', () => {
    expect(failing(['turn_failed', 'turn_failed', 'turn_failed'])).toEqual(['s1', null, 's3']);
  });

  it('does not go on where it is no use', () => {
    expect(failing(['agent_did_nothing'])).toEqual([null]);
  });
});
