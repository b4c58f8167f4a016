import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

/** Names that every object of the language answers to, and one that a line of text would break at. */
const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'a\nb'];

it('issues, states and labels may be called like something that every object has', async () => {
  const tracker =
    'kind: file\nactive_states: [constructor, __proto__]\nterminal_states: [toString]\nin_progress_state: __proto__\nhandoff_state: valueOf';
  const agent = 'kind: mock\nmax_turns: 1\nmax_concurrent_agents_by_state: { __proto__: 2 }';
  await ground.write('WORKFLOW.md', fileWorkflow({ tracker, agent }));
  const issues = NAMES.map((name) => ({ id: name, identifier: name, title: name, state: 'constructor', labels: [name] }));
  await ground.write('issues.json', JSON.stringify(issues).replace('"labels"', '"__proto__":{"state":"toString"},"labels"'));
  const daemon = await ground.start(['--port', '0']);
  const states = async () => (await ground.readIssues()).map((issue) => issue['state']);
  await eventually(states, (found) => found.every((state) => state === 'valueOf'), 'every handoff');
  for (const name of NAMES) {
    const issue = await daemon.json(`/api/v2/issues/${encodeURIComponent(name)}`);
    expect(issue).toMatchObject({ issue_identifier: name });
    expect(issue['runs'], name).toHaveLength(1);
  }
  expect((await daemon.get('/api/v1/valueOf')).status).toBe(404);
  const pause = { method: 'POST', body: '{"__proto__":{"reason":"not mine"}}', headers: { 'content-type': 'application/json' } };
  expect((await daemon.get('/api/v2/pause', pause)).status).toBe(202);
  expect(JSON.stringify(await daemon.json('/api/v1/state'))).not.toContain('not mine');
  const { code, records } = await daemon.stop();
  expect(code).toBe(0);
  const handoffs = records.filter(({ msg }) => msg === 'handoff transition succeeded, releasing claim');
  expect(handoffs).toHaveLength(NAMES.length);
});
