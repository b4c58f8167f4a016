import { chmod } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';
import { isAlive } from '../support/processes.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

/** Writes down its pid and never answers. */
const SILENT_AGENT = '#!/bin/sh\necho $$ > "$AGENT_PID"\nexec sleep 600\n';

/** What a crash leaves between the start of a process and its entry: a process that no record names. */
async function forgetProcesses(): Promise<void> {
  const db = await openSqlite(ground.path('.foray.db'));
  db.exec('DELETE FROM processes');
  db.close();
}

async function pidIn(file: string): Promise<number> {
  const read = () => ground.read(file).catch(() => '');
  return Number(await eventually(read, (text) => text.endsWith('\n'), file));
}

it.each([
  ['agent', { agent: 'kind: claude-code\ncommand: [./agent.sh]' }],
  ['hook', { hooks: 'before_run: |\n  echo $$ > "$HOME/pid"\n  exec sleep 600' }],
])('an %s that a killed daemon had no time to write down is ended by the next one', async (_name, sections) => {
  await ground.write('agent.sh', SILENT_AGENT);
  await chmod(ground.path('agent.sh'), 0o755);
  const absolute = Object.fromEntries(
    Object.entries(sections).map(([name, text]) => [name, text.replace('./agent.sh', ground.path('agent.sh'))]),
  );
  await ground.write('WORKFLOW.md', fileWorkflow(absolute));
  await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'First', state: 'todo' }]);
  const env = { AGENT_PID: ground.path('pid') };
  const first = await ground.start(undefined, { env });
  const pid = await pidIn('pid');
  first.signal('SIGKILL');
  await first.exited;
  expect(isAlive(pid)).toBe(true);
  await forgetProcesses();
  await ground.write('WORKFLOW.md', fileWorkflow());
  const second = await ground.start(undefined, { env });
  await second.record('ending a process that an earlier run left behind', { pid: String(pid) });
  expect(isAlive(pid)).toBe(false);
  await second.stop();
});
