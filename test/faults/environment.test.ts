import { afterEach, beforeEach, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

const TOKEN = 'ghp_0123456789abcdefghij0123456789abcdef';

// The file kind needs no credential, so the block of another kind refers to it.
it.runIf(process.platform === 'linux')('the environment of the daemon shows no credential to a hook', async () => {
  // Everybody above the hook: its shell, the daemon, and who started that.
  const hooks = `before_run: |
  p=$PPID
  while [ "$p" -gt 1 ]; do
    tr '\\0' '\\n' < /proc/$p/environ >> seen
    p=$(sed 's/.*) . \\([0-9]*\\) .*/\\1/' /proc/$p/stat)
  done`;
  const github = 'api_key: $WATCHED_TOKEN\nproject: a/b';
  await ground.write('WORKFLOW.md', fileWorkflow({ hooks, github }));
  await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'First', state: 'todo' }]);
  const env = { WATCHED_TOKEN: TOKEN, HARMLESS: 'still-here', ANOTHER_TOKEN: `${TOKEN}2` };
  const daemon = await ground.start(undefined, { env });
  await daemon.record('handoff transition succeeded, releasing claim');
  const seen = await eventually(
    () => ground.read('ws/A-1/seen'),
    (text) => text !== '',
    'what the hook saw',
  );
  expect(seen).toContain('HARMLESS=still-here');
  expect(seen).not.toContain('WATCHED_TOKEN');
  expect(readFileSync(`/proc/${daemon.pid}/environ`, 'utf8')).not.toContain(`=${TOKEN}\0`);

  // An edit that refers to another variable takes that one out too, and still knows its value.
  const edited = fileWorkflow({ hooks, github: 'api_key: $ANOTHER_TOKEN\nproject: a/b' });
  await ground.write('WORKFLOW.md', edited);
  await daemon.record('workflow reloaded');
  await eventually(
    () => readFileSync(`/proc/${daemon.pid}/environ`, 'utf8'),
    (text) => !text.includes(TOKEN),
    'the edit',
  );
  expect(daemon.stderr()).not.toContain(TOKEN);
  await daemon.stop();
});
