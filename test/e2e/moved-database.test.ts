import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlayground, fileWorkflow, type Playground, type RunningDaemon } from '../support/daemon.ts';

const SECTIONS = { mock: 'outcomes: [hang]', agent: 'kind: mock\nmax_concurrent_agents: 1' };
const NOTE =
  /^foray: the running service keeps its database until it is restarted, and is asked there: .*\.foray\.db; .*other\.db$/m;

let ground: Playground;
let daemon: RunningDaemon;
beforeEach(async () => {
  ground = await createPlayground();
  await ground.write('WORKFLOW.md', fileWorkflow(SECTIONS));
  await ground.writeIssues(['1', '2'].map((id) => ({ id, identifier: `A-${id}`, title: 'x', state: 'todo' })));
  daemon = await ground.start([]);
  await daemon.record('turn started');
});
afterEach(() => ground.cleanup());

async function editDatabase(key: string): Promise<void> {
  const text = await ground.read('WORKFLOW.md');
  await ground.write('WORKFLOW.md', text.replace('---\n', `---\n${key}\n`));
}
const signposts = () => readdir(ground.path('.local', 'state', 'foray', 'services'));

it('commands find a running service though an edit names another database', async () => {
  await editDatabase('db_path: other.db');
  const paused = await ground.run(['pause', '--reason', 'stop']);
  expect(paused).toMatchObject({ code: 0, stdout: expect.stringContaining('(the running service)') as string });
  expect(paused.stderr).toMatch(NOTE);
  await daemon.record('operator request taken');
  expect(existsSync(ground.path('other.db'))).toBe(false);
  for (const args of [['status'], ['logs', 'A-1'], ['stats'], ['explain', 'A-1'], ['plan', 'WORKFLOW.md']]) {
    const said = await ground.run([...args, 'WORKFLOW.md']);
    expect([args, said.code, said.stderr]).toEqual([args, 0, expect.stringMatching(NOTE)]);
    if (args[0] !== 'stats') expect(said.stdout + said.stderr, args[0]).toContain(`service: running (pid ${daemon.pid}`);
  }
  expect(await ground.run(['backup', 'copy.db'])).toMatchObject({ code: 0 });
  expect(await signposts()).toHaveLength(1);
  await daemon.stop();
  expect(await signposts()).toEqual([]);
});

it('what a killed service left is not believed', async () => {
  await editDatabase('db_path: other.db');
  daemon.signal('SIGKILL');
  await daemon.exited;
  expect(await signposts()).toHaveLength(1);
  expect((await ground.run(['status'])).stdout).toMatch(/^service: never started/);
  expect((await ground.run(['pause'])).stdout).toContain('no service is running');
});
