import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

it('status tells when the last poll was, how many candidates it had, and what it holds back', async () => {
  const tracker =
    'kind: file\nactive_states: [todo]\nterminal_states: [done]\nhandoff_state: review\nauthors: [bob]\napproval_label: go';
  await ground.write('WORKFLOW.md', fileWorkflow({ tracker, mock: 'outcomes: [hang]' }));
  const issue = (id: string, author: string, labels: readonly string[]) => ({
    id,
    identifier: `A-${id}`,
    title: 'x',
    state: 'todo',
    author,
    labels,
  });
  await ground.writeIssues([issue('1', 'bob', ['go']), issue('2', 'eve', []), issue('3', 'eve', ['go']), issue('4', 'bob', [])]);
  const status = async () => JSON.parse((await ground.run(['status', '--format', 'json'])).stdout) as Record<string, unknown>;
  expect(await status()).toMatchObject({ holds: null, last_poll_at: null });
  const daemon = await ground.start([]);
  await daemon.record('turn started');
  const text = await eventually(
    async () => (await ground.run(['status'])).stdout,
    (stdout) => /^Held \(3\)/m.test(stdout),
    'what is held in the status',
  );
  expect(text).toMatch(
    /^last poll \d{4}-.*Z: 4 candidates\nHeld \(3\): 2 untrusted_author, 1 not_approved; foray explain tells more$/m,
  );
  const holds = { untrusted_author: 2, not_approved: 1 };
  expect(await status()).toMatchObject({ holds, last_poll_at: expect.any(String) as string });
  await daemon.stop();
  expect(await status()).toMatchObject({ holds: null, last_poll_at: null });
});
