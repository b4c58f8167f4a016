import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

/** The observable records of a normal run, in order, with their attributes. */
const SEQUENCE: readonly (readonly [msg: string, attributes: readonly string[]])[] = [
  ['foray starting', ['version', 'workflow_path']],
  ['database path resolved', ['db_path']],
  ['tick completed', ['candidates', 'dispatched', 'running', 'retrying']],
  ['workspace prepared', ['issue_id', 'issue_identifier', 'workspace']],
  ['agent session started', ['issue_id', 'issue_identifier', 'session_id']],
  ['turn started', ['issue_id', 'issue_identifier', 'turn_number', 'max_turns']],
  ['turn completed', ['issue_id', 'issue_identifier', 'turn_number', 'max_turns']],
  ['worker exiting', ['issue_id', 'issue_identifier', 'exit_kind', 'turns_completed']],
  ['handoff transition succeeded, releasing claim', ['issue_id', 'issue_identifier', 'handoff_state']],
];

describe('a normal run', () => {
  it('writes its records in order, hands the issue over and leaves the rest of the file alone', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.writeIssues([
      { id: '1', identifier: 'A-1', title: 'First', state: 'todo', custom: { kept: true } },
      { id: '2', identifier: 'A-2', title: 'Second', state: 'review' },
    ]);
    const daemon = await ground.start();
    await daemon.record('handoff transition succeeded, releasing claim');
    const finished = await daemon.stop();
    expect(finished.code).toBe(0);
    let from = 0;
    for (const [msg, attributes] of SEQUENCE) {
      const at = finished.records.findIndex((record, index) => index >= from && record['msg'] === msg);
      expect(at, msg).toBeGreaterThanOrEqual(0);
      expect(Object.keys(finished.records[at] ?? {}), msg).toEqual(expect.arrayContaining([...attributes]));
      from = at + 1;
    }
    const find = (msg: string) => finished.records.find((record) => record['msg'] === msg);
    expect(find('tick completed')).toMatchObject({ candidates: '1', dispatched: '1', running: '1', retrying: '0' });
    expect(find('agent session started')).toMatchObject({ session_id: 'mock-session-1' });
    expect(find('worker exiting')).toMatchObject({ exit_kind: 'normal', turns_completed: '2' });
    expect(find('database path resolved')).toMatchObject({ db_path: ground.path('.foray.db') });
    expect(await ground.readIssues()).toEqual([
      { id: '1', identifier: 'A-1', title: 'First', state: 'review', custom: { kept: true } },
      { id: '2', identifier: 'A-2', title: 'Second', state: 'review' },
    ]);
  });

  it('moves the issue to the in-progress state before the agent runs', async () => {
    const tracker =
      'kind: file\nactive_states: [todo, in progress]\nterminal_states: [done]\nhandoff_state: review\nin_progress_state: in progress';
    await ground.write('WORKFLOW.md', fileWorkflow({ tracker, mock: 'turn_delay_ms: 5000' }));
    await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'First', state: 'todo' }]);
    const daemon = await ground.start();
    await daemon.record('turn started');
    expect((await ground.readIssues())[0]).toMatchObject({ state: 'in progress' });
    expect((await daemon.json('/api/v1/A-1'))['running']).toMatchObject({ state: 'in progress' });
    await daemon.stop();
  });

  it('stops a run whose issue turns terminal, and removes its workspace; a title cannot forge a record', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ mock: 'turn_delay_ms: 60000' }));
    const title = 'x\nlevel=ERROR msg="forged" time=now';
    await ground.writeIssues([{ id: '1', identifier: 'A-1', title, state: 'todo' }]);
    const daemon = await ground.start();
    await daemon.record('turn started');
    expect(existsSync(ground.path('ws', 'A-1'))).toBe(true);
    await ground.writeIssues([{ id: '1', identifier: 'A-1', title, state: 'done' }]);
    await daemon.record('workspace removed');
    expect(existsSync(ground.path('ws', 'A-1'))).toBe(false);
    expect(await daemon.json('/api/v1/state')).toMatchObject({ counts: { running: 0, retrying: 0 } });
    const finished = await daemon.stop();
    expect(finished.records.some((record) => record['msg'] === 'forged')).toBe(false);
  });

  it('cleans up at start what is already terminal', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'First', state: 'todo' }]);
    const first = await ground.start();
    await first.record('handoff transition succeeded, releasing claim');
    await first.stop();
    expect(existsSync(ground.path('ws', 'A-1'))).toBe(true);
    await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'First', state: 'done' }]);
    const second = await ground.start();
    await eventually(
      () => existsSync(ground.path('ws', 'A-1')),
      (there) => !there,
      'cleanup',
    );
    await second.stop();
  });

  it('retries a failed run with a backoff that is shown, and continues without a handoff state', async () => {
    const tracker = 'kind: file\nactive_states: [todo]\nterminal_states: [done]';
    await ground.write('WORKFLOW.md', fileWorkflow({ tracker, mock: 'outcomes_by_issue:\n  A-1: [failed]' }));
    await ground.writeIssues([
      { id: '1', identifier: 'A-1', title: 'First', state: 'todo' },
      { id: '2', identifier: 'A-2', title: 'Second', state: 'todo' },
    ]);
    const daemon = await ground.start();
    await daemon.record('retry scheduled', { issue_identifier: 'A-1', trigger: 'error' });
    await daemon.record('retry scheduled', { issue_identifier: 'A-2', trigger: 'continuation', delay_ms: '1000' });
    const detail = await daemon.json('/api/v1/A-1');
    expect(detail).toMatchObject({
      status: 'retrying',
      workspace: null,
      running: null,
      attempts: { restart_count: 0, current_retry_attempt: 1 },
      retry: { attempt: 1, error: expect.stringContaining('turn_failed') as string },
      last_error: expect.stringContaining('turn_failed') as string,
    });
    const due = Date.parse((detail['retry'] as { due_at: string }).due_at) - Date.now();
    expect(due).toBeGreaterThan(5_000);
    expect(due).toBeLessThanOrEqual(11_000);
    await daemon.record('agent session started', { issue_identifier: 'A-2', session_id: 'mock-session-3' });
    await daemon.stop();
  });
});
