import { chmod } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow } from '../support/daemon.ts';

const SUSPENDED_MS = 7_500;
const STALL_MS = 6_000;

/** Plays Claude Code; silent for a second and a half of its own time. */
const AGENT = `#!/bin/sh
echo $$ > "$AGENT_PID"
cat > /dev/null
say() { printf '%s\\n' "$1"; }
say '{"type":"system","subtype":"init","session_id":"00000000-0000-4000-8000-000000000000","model":"m","tools":[],"mcp_servers":[]}'
i=0; while [ $i -lt 10 ]; do sleep 0.15; i=$((i+1)); done
say '{"type":"assistant","session_id":"00000000-0000-4000-8000-000000000000","message":{"id":"m1","model":"m","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":1,"output_tokens":1}}}'
say '{"type":"result","subtype":"success","is_error":false,"session_id":"00000000-0000-4000-8000-000000000000","result":"done","usage":{"input_tokens":1,"output_tokens":1}}'
`;

it('daemon and agent are suspended for longer than a turn may be silent: the turn goes on, and so do polls', async (test) => {
  const ground = await createPlayground({ patienceMs: 30_000 });
  test.onTestFinished(ground.cleanup);
  await chmod(await ground.write('agent.sh', AGENT), 0o755);
  const limits = `max_turns: 1\nstall_timeout_ms: ${STALL_MS}\nturn_timeout_ms: ${STALL_MS + 1_000}`;
  await ground.write(
    'WORKFLOW.md',
    fileWorkflow({ agent: `kind: claude-code\ncommand: [${ground.path('agent.sh')}]\n${limits}` }),
  );
  await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'First', state: 'todo' }]);
  const daemon = await ground.start(undefined, { env: { AGENT_PID: ground.path('pid') } });
  await daemon.record('turn started');
  const agent = Number(
    await eventually(
      () => ground.read('pid').catch(() => ''),
      (text) => text.endsWith('\n'),
      'the agent',
    ),
  );
  process.kill(-agent, 'SIGSTOP');
  daemon.signal('SIGSTOP');
  await delay(SUSPENDED_MS);
  daemon.signal('SIGCONT');
  await delay(300);
  process.kill(-agent, 'SIGCONT');
  await daemon.record('handoff transition succeeded, releasing claim');
  await ground.writeIssues([{ id: '2', identifier: 'A-2', title: 'Second', state: 'todo' }]);
  await daemon.record('turn started', { issue_identifier: 'A-2' });
  const { code, records } = await daemon.stop();
  const again = records.filter((record) => record['msg'] === 'retry scheduled' && record['issue_id'] === '1');
  expect([code, again]).toEqual([0, []]);
});
