import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';
import { isAlive } from '../support/processes.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

const ISSUE = { id: '1', identifier: 'A-1', title: 'First', state: 'todo' };

describe('kill -9 and restart', () => {
  it('resumes the issue that ran, once, with a higher attempt', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ mock: 'turn_delay_ms: 1500' }));
    await ground.writeIssues([ISSUE]);
    const first = await ground.start();
    await first.record('turn started');
    first.signal('SIGKILL');
    await first.exited;
    const second = await ground.start();
    await second.record('turn started');
    const state = await second.json('/api/v1/state');
    expect(state).toMatchObject({ counts: { running: 1, retrying: 0 } });
    expect(await second.json('/api/v1/A-1')).toMatchObject({ attempts: { restart_count: 0, current_retry_attempt: 1 } });
    await second.record('handoff transition succeeded, releasing claim');
    const { runs } = (await second.json('/api/v2/runs')) as { runs: { status: string }[] };
    expect(runs.map((run) => run.status).sort()).toEqual(['interrupted', 'succeeded']);
    await second.stop();
  });

  it('keeps a retry with its due time', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ mock: 'outcomes: [failed]' }));
    await ground.writeIssues([ISSUE]);
    const first = await ground.start();
    await first.record('retry scheduled');
    const before = (await first.json('/api/v1/A-1'))['retry'];
    first.signal('SIGKILL');
    await first.exited;
    const second = await ground.start();
    expect((await second.json('/api/v1/A-1'))['retry']).toEqual(before);
    await second.stop();
  });

  it('keeps a parked issue, which `unpark` releases with and without a running daemon', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ mock: 'outcomes: [needs_person]' }));
    await ground.writeIssues([ISSUE]);
    const first = await ground.start();
    await first.record('issue parked until a person acts');
    first.signal('SIGKILL');
    await first.exited;
    await ground.write('WORKFLOW.md', fileWorkflow());
    const second = await ground.start();
    await second.record('candidate held', { reason: 'parked' });
    expect(await second.json('/api/v2/parked')).toMatchObject({ parked: [{ issue_identifier: 'A-1', reason: 'needs_person' }] });
    // In a shell without the variables of the workflow, too.
    const tracker = 'kind: github\napi_key: $NOT_SET\nproject: o/r';
    await ground.write('other.md', fileWorkflow({ tracker }));
    const asked = await ground.run(['unpark', 'A-1', 'other.md']);
    expect(asked).toMatchObject({ code: 0 });
    await second.record('handoff transition succeeded, releasing claim');
    await second.stop();
    expect(await ground.run(['unpark', 'A-1'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not parked') as string,
    });
  });

  it('ends processes that the dead daemon left behind', async () => {
    const hooks = `before_run: |\n  echo $$ > ${ground.path('hook.pid')}\n  sleep 600`;
    await ground.write('WORKFLOW.md', fileWorkflow({ hooks }));
    await ground.writeIssues([ISSUE]);
    const first = await ground.start();
    await eventually(() => existsSync(ground.path('hook.pid')), Boolean, 'the hook');
    const pid = Number(
      await eventually(
        () => ground.read('hook.pid'),
        (text) => text.trim() !== '',
        'its pid',
      ),
    );
    // An answer proves that the daemon is past the moment in which it started the hook and wrote that down.
    await first.get('/livez');
    first.signal('SIGKILL');
    await first.exited;
    expect(isAlive(pid)).toBe(true);
    await ground.write('WORKFLOW.md', fileWorkflow());
    const second = await ground.start();
    await second.record('ending a process that an earlier run left behind');
    await eventually(
      () => isAlive(pid),
      (alive) => !alive,
      'the end of the hook',
    );
    await second.record('handoff transition succeeded, releasing claim');
    await second.stop();
  });
});

describe('the database', () => {
  it('a second daemon refuses and names the first', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.writeIssues([]);
    const first = await ground.start();
    const second = await ground.run(['WORKFLOW.md']);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(String(first.pid));
    expect(second.stderr).not.toContain('    at ');
    expect((await first.stop()).code).toBe(0);
  });

  it.each([
    ['a file that is no database', 'this is not a database, by any means'],
    ['a truncated database', 'SQLite format 3\0garbage'],
  ])('refuses %s with a clear error', async (_name, content) => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.writeIssues([]);
    await writeFile(ground.path('.foray.db'), content);
    const finished = await ground.run(['WORKFLOW.md']);
    expect(finished.code).toBe(1);
    expect(finished.stderr).toContain('.foray.db');
    expect(finished.stderr).not.toContain('    at ');
    expect(await ground.read('.foray.db')).toBe(content);
  });

  it('tells the places in the source to whoever looks for a fault', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.writeIssues([]);
    await writeFile(ground.path('.foray.db'), 'this is not a database, by any means');
    const { stderr } = await ground.run(['stats'], { env: { FORAY_DEBUG: '1' } });
    expect(stderr).toMatch(/^ {4}at .*\(src\/store\/sqlite\/sqlite\.ts:\d+:\d+\)$/m);
    expect(stderr).not.toContain('chunks');
  });

  it('refuses a place it cannot write to', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow().replace('file:\n', 'db_path: WORKFLOW.md/x.db\nfile:\n'));
    await ground.writeIssues([]);
    const finished = await ground.run(['WORKFLOW.md']);
    expect(finished.code).toBe(1);
    expect(finished.stderr).toContain('x.db');
  });
});
