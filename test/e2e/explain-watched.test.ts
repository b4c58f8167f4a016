import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlayground, fileWorkflow, type Playground } from '../support/daemon.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

const SCM = { branch: 'a', sha: 'a'.repeat(40), pushed_at: '2026-01-01T00:00:00Z', pr_number: 7, owner: 'acme', repo: 'shop' };
const ISSUE = { id: '1', identifier: 'A-1', title: 'First', state: 'todo' };

it('explain tells the state that an issue with a watched merge request is in', { timeout: 60_000 }, async () => {
  await ground.write(
    'WORKFLOW.md',
    fileWorkflow({
      agent: 'kind: mock\nmax_turns: 1',
      hooks: `after_run: mkdir -p .foray && printf '%s' '${JSON.stringify(SCM)}' > .foray/scm.json`,
      github: 'api_key: forge-credential\nproject: acme/shop\nendpoint: http://127.0.0.1:9',
      reactions: 'projects: [acme/shop]\nci_failure: { provider: github }',
    }),
  );
  await ground.writeIssues([ISSUE]);
  const daemon = await ground.start();
  await daemon.record('handoff transition succeeded, releasing claim');
  const explained = async (): Promise<unknown> => {
    const { code, stdout } = await ground.run(['explain', 'A-1', '--format', 'json']);
    return [code, (JSON.parse(stdout) as unknown[])[0]];
  };
  expect(await explained()).toMatchObject([0, { state: 'review', reason: 'handed_off' }]);
  await daemon.stop();
  await ground.writeIssues([{ ...ISSUE, state: 'backlog' }]);
  const detail =
    'state "backlog" is neither an active state nor the handoff state; merge request acme/shop#7 is watched, no turn for it starts from there';
  const remedy = 'move the issue back to "review"';
  expect(await explained()).toMatchObject([1, { state: 'backlog', reason: 'not_active', detail, remedy }]);
  await ground.writeIssues([{ ...ISSUE, state: 'done' }]);
  expect(await explained()).toMatchObject([0, { state: 'done', reason: 'terminal' }]);
});
