import { expect, it } from 'vitest';
import { createPlayer } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { failedExit } from '../../domain/model/event.ts';
import type { Fault } from '../../domain/model/fault.ts';
import { createQueueGate } from './queue-gate.ts';

const LIMIT: Fault = { kind: 'agent_usage_limit', message: 'agent_usage_limit: too many', consequence: 'pause-agent' };
const RESTS = 'waits in the queue: the agent mock rests: agent_usage_limit: too many';

function scene() {
  const settings = settingsWith({ agent: { runOn: [] } });
  const player = createPlayer(settings);
  player.poll([issueWith({ id: '1' }), issueWith({ id: '2' })]);
  const gate = createQueueGate(() => player.state);
  const heldBack = (of = settings) => gate.heldBack({ settings: of });
  return { player, gate, heldBack };
}

it('is shut while an operator keeps the service from dispatching', () => {
  const { player, heldBack } = scene();
  expect(heldBack()).toBeNull();
  player.operator({ kind: 'pause', reason: 'release day' });
  expect(heldBack()).toMatch(/^waits in the queue: paused by an operator \(.+\): release day$/);
  player.operator({ kind: 'resume' });
  expect(heldBack()).toBeNull();
});

it('is shut for an agent from the moment on at which its limit is met until that lifts', () => {
  const { player, gate, heldBack } = scene();
  const exited = { type: 'run-exited', issueId: '1', runId: 'run-1', exit: failedExit(LIMIT) } as const;
  gate.hear(exited);
  expect(heldBack()).toBe(RESTS);
  expect(heldBack(settingsWith({ agent: { kind: 'codex' } }))).toBeNull();
  player.send(exited);
  expect(heldBack()).toBe(RESTS);
  player.after(15 * 60_000);
  expect(heldBack()).toBeNull();
});

it('stays open when a run fails for another reason', () => {
  const { gate, heldBack } = scene();
  const fault: Fault = { kind: 'turn_failed', message: 'it broke', consequence: 'back-off' };
  gate.hear({ type: 'run-exited', issueId: '1', runId: 'run-1', exit: failedExit(fault) });
  expect(heldBack()).toBeNull();
});
