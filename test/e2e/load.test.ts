import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlayground, fileWorkflow, type Playground } from '../support/daemon.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

/** A busy machine may hold up either side for a moment: one quiet round of several is proof enough. */
const ROUNDS = 12;

it('a poll over 5,000 file issues keeps /api/v1/state under 50 ms', { timeout: 60_000 }, async () => {
  const agent = 'kind: mock\nmax_turns: 1\nmax_concurrent_agents: 2';
  await ground.write('WORKFLOW.md', fileWorkflow({ agent, mock: 'turn_delay_ms: 600000' }));
  await ground.writeIssues(
    Array.from({ length: 5_000 }, (_, index) => ({
      id: String(index),
      identifier: `A-${index}`,
      title: `Issue ${index}`,
      state: 'todo',
      description: 'Lorem ipsum dolor sit amet. '.repeat(10),
      labels: ['bug'],
    })),
  );
  const daemon = await ground.start();
  await daemon.record('tick completed');
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS && Math.min(...rounds, Infinity) >= 50; round += 1) rounds.push(await slowestOf(20));
  expect(Math.min(...rounds)).toBeLessThan(50);
  await daemon.stop();

  /** Of so many requests or more: at least one poll is from its beginning to its end among them. */
  async function slowestOf(requests: number): Promise<number> {
    const polls = (): number => daemon.records().filter((record) => record['msg'] === 'tick completed').length;
    const before = polls();
    let slowest = 0;
    for (let count = 0; count < requests || polls() < before + 2; count += 1) {
      const start = performance.now();
      await (await daemon.get('/api/v1/state')).arrayBuffer();
      slowest = Math.max(slowest, performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return slowest;
  }
});
