import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import type { AgentEvent } from '../model/agent-event.ts';
import type { RunEvent } from '../model/run.ts';

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
