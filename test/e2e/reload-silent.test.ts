import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlayground, fileWorkflow, type Playground } from '../support/daemon.ts';

let ground: Playground;
let silent: Server;
beforeEach(async () => {
  ground = await createPlayground();
  silent = createServer((socket) => void socket.on('error', () => {}));
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  silent.close();
  await ground.cleanup();
});

const WAITS = 'workflow edit waits for its tracker, the last good one stays in force';

it('an edit whose tracker says nothing is told of, and gives way to its correction at once', { timeout: 30_000 }, async () => {
  const { port } = silent.address() as AddressInfo;
  const tracker = [
    'kind: github',
    'project: acme/app',
    `endpoint: http://127.0.0.1:${port}`,
    'api_key: token',
    'active_states: [todo]',
    'terminal_states: [done]',
  ].join('\n');
  await ground.write('WORKFLOW.md', fileWorkflow());
  await ground.writeIssues([]);
  const daemon = await ground.start();
  await daemon.record('tick completed');
  await ground.write('WORKFLOW.md', fileWorkflow({ tracker }));
  expect(await daemon.record(WAITS)).toMatchObject({ tracker_kind: 'repoissues' });
  const waits = expect.stringContaining('the last edit waits for its tracker') as string;
  expect(await daemon.json('/readyz')).toMatchObject({ status: 'pass', workflow_error: waits });
  expect(await daemon.json('/api/v2/workflow')).toMatchObject({ rejected: { reason: waits }, problems: [{ message: waits }] });
  expect(await (await daemon.get('/')).text()).toContain('the last edit waits for its tracker');
  await ground.write('WORKFLOW.md', fileWorkflow());
  await daemon.record('workflow reloaded');
  expect(await daemon.json('/readyz')).not.toHaveProperty('workflow_error');
  expect(await daemon.json('/api/v2/workflow')).toMatchObject({ rejected: null, problems: [] });
  const { records } = await daemon.stop();
  expect(records.filter(({ msg }) => msg?.startsWith('workflow edit rejected'))).toEqual([]);
});
