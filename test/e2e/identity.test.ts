import { mkdir, readFile, symlink } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

const A1 = { id: '1', identifier: 'A-1', title: 'First', state: 'todo' };

/** A file tracker whose agent takes its time. */
function workflow(file: string, turnMs: number, turns = 1): string {
  const tracker =
    'kind: file\nactive_states: [todo]\nterminal_states: [done]\nhandoff_state: review\ncomments: { on_completion: true }';
  return fileWorkflow({
    tracker,
    file: `path: ${file}`,
    agent: `kind: mock\nmax_turns: ${turns}`,
    mock: `turn_delay_ms: ${turnMs}`,
  });
}

async function issuesOf(file: string): Promise<Record<string, unknown>[]> {
  return JSON.parse(await ground.read(file)) as Record<string, unknown>[];
}

describe('an edit that swaps the tracker', () => {
  it('leaves runs with their own tracker, and takes new ones from the new one', async () => {
    await ground.write('old.json', JSON.stringify([A1]));
    await ground.write('new.json', JSON.stringify([{ ...A1, title: 'Of the other project' }]));
    await ground.write('WORKFLOW.md', workflow('old.json', 6_000));
    const daemon = await ground.start();
    await daemon.record('turn started', { issue_identifier: 'A-1' });
    await ground.write('WORKFLOW.md', workflow('new.json', 50));
    await daemon.record('workflow reloaded');
    await eventually(
      () => issuesOf('new.json'),
      ([issue]) => issue?.['state'] === 'review' && 'comments' in issue,
      'the new one to be handed off',
    );
    expect(await issuesOf('old.json')).toMatchObject([{ state: 'todo' }]);
    expect((await daemon.json('/api/v1/state'))['running']).toHaveLength(1);
    // The service is paused while the new one is watched: that holds for the old one, too, when it comes back.
    expect((await ground.run(['pause', 'WORKFLOW.md'])).code).toBe(0);
    const withSecond = [A1, { ...A1, id: '2', identifier: 'A-2' }];
    await ground.write('old.json', JSON.stringify(withSecond));
    await ground.write('WORKFLOW.md', workflow('old.json', 2_500).replace('max_turns: 1', 'max_turns: 1\n  max_attempts: 9'));
    await daemon.record('candidate held', { issue_identifier: 'A-2', reason: 'paused' });
    await eventually(
      () => issuesOf('old.json'),
      ([issue]) => issue?.['state'] === 'review' && 'comments' in issue,
      'the old one to be handed off',
    );
    for (const file of ['old.json', 'new.json']) expect((await issuesOf(file))[0]?.['comments']).toHaveLength(1);
    const { code } = await daemon.stop();
    expect(code).toBe(0);
  });

  it('keeps what belongs to the old one stored until it is watched again', async () => {
    const blocked = { ...A1, id: '7', identifier: 'B-7' };
    await ground.write('old.json', JSON.stringify([blocked]));
    await ground.write('new.json', JSON.stringify([{ ...blocked, state: 'later' }]));
    const budget = (file: string): string =>
      workflow(file, 10)
        .replace('kind: mock', 'kind: mock\n  max_tokens: 1')
        .replace('turn_delay_ms: 10', 'input_tokens_per_turn: 9');
    await ground.write('WORKFLOW.md', budget('old.json'));
    const first = await ground.start();
    await first.record('issue parked until a person acts', { issue_identifier: 'B-7' });
    await first.stop();
    await ground.write('WORKFLOW.md', budget('new.json'));
    const second = await ground.start();
    const left = await second.record('records of another tracker are left alone');
    expect(left).toMatchObject({ identity: `file ${ground.path('old.json')}`, parked: '1', retries: '0' });
    await second.record('tick completed');
    expect((await second.json('/api/v2/parked'))['parked']).toEqual([]);
    expect((await ground.run(['unpark', 'B-7', 'WORKFLOW.md'])).code).toBe(1);
    await symlink(ground.path('old.json'), ground.path('link.json'));
    await ground.write('WORKFLOW.md', budget('link.json'));
    await second.record('workflow reloaded');
    await eventually(
      async () => (await second.json('/api/v2/parked'))['parked'] as unknown[],
      (parked) => parked.length === 1,
      'the parked issue to be there again',
    );
    const { records } = await second.stop();
    expect(records.filter(({ msg }) => msg === 'records of another tracker are left alone')).toHaveLength(1);
  });
});

describe('a workspace root', () => {
  it('is refused to a second daemon with another database, which says who holds it', async () => {
    await ground.writeIssues([]);
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.write('OTHER.md', fileWorkflow().replace('---\n', '---\ndb_path: other.db\n'));
    const daemon = await ground.start();
    const second = await ground.run(['OTHER.md']);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`${ground.path('ws')} is in use by another foray (pid ${daemon.pid} `);
    expect(second.stderr).toContain(`database ${ground.path('.foray.db')}`);
    await daemon.stop();
  });

  it('keeps what nobody marked: it is moved aside when its issue is finished', async () => {
    await ground.writeIssues([{ ...A1, state: 'done' }]);
    await mkdir(ground.path('ws', 'A-1'), { recursive: true });
    await ground.write('ws/A-1/precious', 'keep me');
    await ground.write('WORKFLOW.md', fileWorkflow());
    const daemon = await ground.start();
    const { aside } = await daemon.record('directory without a mark moved aside', { issue_identifier: 'A-1' });
    expect(aside).toContain(ground.path('ws', '.foray-removed'));
    expect(await readFile(`${aside}/precious`, 'utf8')).toBe('keep me');
    await daemon.stop();
  });
});
