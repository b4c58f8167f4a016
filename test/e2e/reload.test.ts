import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

const ISSUE = { id: '1', identifier: 'A-1', title: 'First', state: 'later' };

describe('an edit of the workflow file', () => {
  it('is applied without a restart: states, agent and tracker', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.writeIssues([ISSUE]);
    const daemon = await ground.start();
    await daemon.record('tick completed');
    const tracker = 'kind: file\nactive_states: [later]\nterminal_states: [done]\nhandoff_state: review';
    await ground.write(
      'WORKFLOW.md',
      fileWorkflow({ tracker, agent: 'kind: mock\nmax_turns: 1', mock: 'input_tokens_per_turn: 7' }),
    );
    await daemon.record('workflow reloaded');
    await daemon.record('worker exiting', { turns_completed: '1' });
    expect((await daemon.json('/api/v1/state'))['agent_totals']).toMatchObject({ input_tokens: 7 });
    await daemon.stop();
  });

  it('that is broken is reported once, and the last good one stays in force', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.writeIssues([ISSUE]);
    const daemon = await ground.start();
    await ground.write('WORKFLOW.md', '---\ntracker: [\n---\n');
    const rejected = await daemon.record('workflow edit rejected, the last good one stays in force');
    expect(rejected['problems']).toContain('workflow.yaml');
    expect(rejected).toMatchObject({ check: 'workflow.yaml', line: expect.any(String), column: expect.any(String) });
    await ground.writeIssues([{ ...ISSUE, state: 'todo' }]);
    await daemon.record('handoff transition succeeded, releasing claim');
    expect((await daemon.get('/readyz')).status).toBe(200);
    const finished = await daemon.stop();
    expect(finished.records.filter((record) => record['msg']?.startsWith('workflow edit rejected'))).toHaveLength(1);
  });
});

describe('an edit to a tracker that is out of reach', () => {
  const away = ['kind: github', 'project: acme/app', 'endpoint: http://127.0.0.1:9', 'api_key: token', 'active_states: [todo]'];

  it('leaves the last good file in force, and gives way to a newer one', { timeout: 60_000 }, async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.writeIssues([]);
    const daemon = await ground.start();
    await daemon.record('tick completed');
    await ground.write('WORKFLOW.md', fileWorkflow({ tracker: [...away, 'terminal_states: [done]'].join('\n') }));
    const rejected = await daemon.record('workflow edit rejected, the last good one stays in force');
    expect(rejected['problems']).toContain('tracker_transport_error');
    await ground.writeIssues([{ ...ISSUE, state: 'todo' }]);
    await daemon.record('handoff transition succeeded, releasing claim');
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nmax_turns: 2' }));
    await daemon.record('workflow reloaded');
    expect((await daemon.json('/api/v2/workflow'))['rejected']).toBeNull();
    const { records } = await daemon.stop();
    expect(records.filter(({ msg }) => msg === 'workflow reloaded')).toHaveLength(1);
    expect(records.filter(({ msg }) => msg === 'poll failed')).toEqual([]);
  });
});

describe('a tracker file that breaks for a while', () => {
  it('is named with its place, nothing is lost, and the next good read works', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.write('issues.json', '[\n  {"id": "1",\n');
    const daemon = await ground.start();
    const failed = await daemon.record('poll failed, nothing dispatched until the next one');
    expect(failed['error']).toMatch(/tracker_payload_error.*issues\.json.*line \d+/);
    expect((await daemon.get('/livez')).status).toBe(200);
    await ground.writeIssues([{ ...ISSUE, state: 'todo' }]);
    await daemon.record('handoff transition succeeded, releasing claim');
    await daemon.stop();
  });

  it.each(['..', '.', '../../etc', 'a/b', 'ä ö', '-rf', 'x'.repeat(300)])(
    'an issue called %j stays inside the workspace root or is refused',
    async (identifier) => {
      await ground.write('WORKFLOW.md', fileWorkflow());
      await ground.writeIssues([{ id: '1', identifier, title: 'Odd', state: 'todo' }]);
      const daemon = await ground.start();
      const prepared = await eventually(
        () => daemon.records().find((record) => ['workspace prepared', 'retry scheduled'].includes(record['msg'] ?? '')),
        (record) => record !== undefined,
        'an outcome',
      );
      if (prepared?.['workspace']) expect(prepared['workspace'].startsWith(`${ground.path('ws')}/`)).toBe(true);
      else expect(prepared?.['error']).toContain('workspace');
      await daemon.stop();
    },
  );
});
