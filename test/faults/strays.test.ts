import { chmod } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';
import { isAlive, mayGroup } from '../support/processes.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

/** Plays Claude Code; leaves a process that has left the session and forgotten where it comes from. */
const AGENT = `#!${process.execPath}
const { spawn } = require('node:child_process');
const child = spawn('sh', ['-c', 'echo $$ > "$0"; exec sleep 600', process.env.STRAY_PID], { detached: true, env: {}, stdio: 'ignore' });
child.unref();
process.stdin.resume();
process.stdin.on('end', () => {
  const say = (value) => console.log(JSON.stringify(value));
  const session_id = '00000000-0000-4000-8000-000000000000';
  say({ type: 'system', subtype: 'init', session_id, model: 'm', tools: [], mcp_servers: [] });
  say({ type: 'assistant', session_id, message: { id: 'm1', model: 'm', content: [{ type: 'text', text: 'done' }], usage: { input_tokens: 1, output_tokens: 1 } } });
  say({ type: 'result', subtype: 'success', is_error: false, session_id, result: 'done', usage: { input_tokens: 1, output_tokens: 1 } });
});
`;

describe.runIf(await mayGroup())('a process that left its session and its environment', () => {
  it.each([
    ['an agent', { agent: 'kind: claude-code\ncommand: [AGENT]\nmax_turns: 1' }],
    ['a hook', { hooks: `before_run: setsid env -i sh -c 'echo $$ > "$0"; exec sleep 600' "$HOME/pid" > /dev/null 2>&1 &` }],
  ])('ends with %s that started it', async (_name, sections) => {
    await ground.write('agent.cjs', AGENT);
    await chmod(ground.path('agent.cjs'), 0o755);
    const placed = Object.entries(sections).map(([key, text]) => [key, text.replace('AGENT', ground.path('agent.cjs'))]);
    await ground.write('WORKFLOW.md', fileWorkflow(Object.fromEntries(placed)));
    await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'First', state: 'todo' }]);
    const daemon = await ground.start(undefined, { env: { STRAY_PID: ground.path('pid') } });
    const pid = Number(
      await eventually(
        () => ground.read('pid').catch(() => ''),
        (text) => text.endsWith('\n'),
        'the stray',
      ),
    );
    await daemon.record('handoff transition succeeded, releasing claim');
    await eventually(
      () => isAlive(pid),
      (alive) => !alive,
      'its end',
    );
    await daemon.stop();
    expect(daemon.stderr()).not.toContain('closing failed');
  });
});
