import { mkdir, readFile, symlink } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startFakeGitlab } from '../fakes/gitlab.ts';
import { createPlayground, eventually, fileWorkflow, workflowText, type Playground } from '../support/daemon.ts';

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
    const priced = (text: string, price: number): string =>
      text.replace('---\n', `---\ntoken_rates: { mock: { input_per_mtok: ${price}, output_per_mtok: 0 } }\n`);
    const measured = 'input_tokens_per_turn: 1000000\n  turn_delay_ms';
    await ground.write('WORKFLOW.md', priced(workflow('old.json', 6_000).replace('turn_delay_ms', measured), 3));
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
    const other = workflow('old.json', 2_500, 7)
      .replace('kind: mock', 'kind: claude-code\n  command: sh')
      .replace('handoff_state: review', 'handoff_state: elsewhere')
      .replace('on_completion: true', 'on_completion: false');
    await ground.write('WORKFLOW.md', priced(other, 500));
    await daemon.record('candidate held', { issue_identifier: 'A-2', reason: 'paused' });
    await eventually(
      () => issuesOf('old.json'),
      ([issue]) => issue?.['state'] === 'review' && 'comments' in issue,
      'the old one to be handed off',
    );
    for (const file of ['old.json', 'new.json']) expect((await issuesOf(file))[0]?.['comments']).toHaveLength(1);
    // The run kept what it began with: its agent, its turns, its prices, its handoff state and its comments.
    const { runs } = (await daemon.json('/api/v2/runs?identifier=A-1')) as { runs: Record<string, unknown>[] };
    expect(runs.at(-1)).toMatchObject({ agent_kind: 'mock', turn_count: 1, cost_usd: 3, status: 'succeeded' });
    const { code } = await daemon.stop();
    expect(code).toBe(0);
  });

  it('says that the retry of a run that fails afterwards waits for its tracker', async () => {
    await ground.write('old.json', JSON.stringify([A1]));
    await ground.write('new.json', '[]');
    const failing = workflow('old.json', 2_000).replace('turn_delay_ms', 'outcomes: [failed]\n  turn_delay_ms');
    await ground.write('WORKFLOW.md', failing);
    const daemon = await ground.start();
    await daemon.record('turn started', { issue_identifier: 'A-1' });
    await ground.write('WORKFLOW.md', workflow('new.json', 10));
    await daemon.record('retry scheduled', { issue_identifier: 'A-1' });
    const left = await daemon.record('records of another tracker are left alone');
    expect(left).toMatchObject({ identity: `file ${ground.path('old.json')}`, retries: '1', claims: '0', workspaces: '1' });
    await daemon.stop();
  });

  it('keeps what belongs to the old one stored until it is watched again', async () => {
    const blocked = { ...A1, id: '7', identifier: 'B-7' };
    const shared = { ...A1, id: '8', identifier: 'B-8' };
    await ground.write('old.json', JSON.stringify([blocked, shared]));
    await ground.write('new.json', JSON.stringify([{ ...blocked, state: 'done' }, shared]));
    const budget = (file: string): string =>
      workflow(file, 10)
        .replace('kind: mock', 'kind: mock\n  max_tokens: 1')
        .replace('turn_delay_ms: 10', 'input_tokens_per_turn: 9');
    await ground.write('WORKFLOW.md', budget('old.json'));
    const first = await ground.start();
    for (const name of ['B-7', 'B-8']) {
      await first.record('issue parked until a person acts', { issue_identifier: name });
      await ground.write(`ws/${name}/precious`, 'of the old one');
    }
    await first.stop();
    await ground.write('WORKFLOW.md', budget('new.json'));
    const second = await ground.start();
    const left = await second.record('records of another tracker are left alone');
    expect(left).toMatchObject({ identity: `file ${ground.path('old.json')}`, parked: '2', retries: '0' });
    // The new one's issue of the same name works elsewhere, and that it has a finished one cleans nothing away.
    const { workspace = '' } = await second.record('workspace prepared', { issue_identifier: 'B-8' });
    expect(workspace).toMatch(/\/B-8-[0-9a-f]{16}$/);
    await second.record('issue parked until a person acts', { issue_identifier: 'B-8' });
    expect((await second.json('/api/v2/parked'))['parked']).toHaveLength(1);
    for (const name of ['B-7', 'B-8']) expect(await ground.read(`ws/${name}/precious`)).toBe('of the old one');
    // What people are shown of it is its own history.
    expect((await second.json('/api/v2/issues/B-8'))['runs']).toHaveLength(1);
    const page = await (await second.get('/issues/B-8')).text();
    expect(page.match(/parked \(/g)).toHaveLength(1);
    const logs = JSON.parse((await ground.run(['logs', 'B-8', '--format', 'json', 'WORKFLOW.md'])).stdout) as { runs: unknown[] };
    expect(logs.runs).toHaveLength(1);
    expect((await ground.run(['unpark', 'B-7', 'WORKFLOW.md'])).code).toBe(1);
    await symlink(ground.path('old.json'), ground.path('link.json'));
    await ground.write('WORKFLOW.md', budget('link.json'));
    await second.record('workflow reloaded');
    await eventually(
      async () => (await second.json('/api/v2/parked'))['parked'] as unknown[],
      (parked) => parked.length === 2,
      'the parked issues to be there again',
    );
    const { records } = await second.stop();
    expect(records.filter(({ msg }) => msg === 'records of another tracker are left alone')).toHaveLength(1);
  });
});

describe('a project that is named by its number', () => {
  it('is the one that is stored by its path, and what is stored of others is told once', async (test) => {
    const fake = await startFakeGitlab({ labels: ['ready'] });
    test.onTestFinished(() => fake.close());
    fake.addIssue({ title: 'Parked', labels: ['ready'] });
    await ground.writeIssues([A1]);
    const parking = {
      agent: 'kind: mock\nmax_turns: 1\nmax_attempts: 1',
      mock: 'outcomes: [failed]',
      polling: 'interval_ms: 100',
      workspace: 'root: ws',
    };
    const gitlab = (project: string): string => {
      const states = 'active_states: [ready]\nterminal_states: [done]\nhandoff_state: review';
      const tracker = `kind: gitlab\nendpoint: ${fake.url}\napi_key: ${fake.token}\nproject: ${project}\n${states}`;
      return workflowText({ ...parking, tracker }, 'Work.');
    };
    for (const text of [fileWorkflow(parking), gitlab(fake.project.path)]) {
      await ground.write('WORKFLOW.md', text);
      const daemon = await ground.start();
      await daemon.record('issue parked until a person acts');
      await daemon.stop();
    }
    await ground.write('WORKFLOW.md', gitlab(`"${fake.project.id}"`));
    const daemon = await ground.start();
    await daemon.record('tick completed');
    expect((await daemon.json('/api/v2/parked'))['parked']).toHaveLength(1);
    const { records } = await daemon.stop();
    const left = records.filter(({ msg }) => msg === 'records of another tracker are left alone');
    expect(left).toMatchObject([{ identity: `file ${ground.path('issues.json')}` }]);
  });
});

describe('an edit of the states', () => {
  it('leaves a run with those it began with, also where labels are states', async (test) => {
    const fake = await startFakeGitlab({ labels: ['ready', 'other', 'review'] });
    test.onTestFinished(() => fake.close());
    const { iid } = fake.addIssue({ title: 'Under way', labels: ['ready'] });
    const gitlab = (active: string): string => {
      const states = `active_states: [${active}]\nterminal_states: [done]\nhandoff_state: review`;
      const tracker = `kind: gitlab\nendpoint: ${fake.url}\napi_key: ${fake.token}\nproject: ${fake.project.path}\n${states}`;
      const agent = 'kind: mock\nmax_turns: 1';
      const rest = { agent, mock: 'turn_delay_ms: 3000', polling: 'interval_ms: 100', workspace: 'root: ws' };
      return workflowText({ tracker, ...rest }, 'Work.');
    };
    await ground.write('WORKFLOW.md', gitlab('ready'));
    const daemon = await ground.start();
    await daemon.record('turn started');
    await ground.write('WORKFLOW.md', gitlab('other'));
    await daemon.record('workflow reloaded');
    await daemon.record('worker exiting');
    await eventually(
      () => fake.issue(iid).labels,
      (labels) => labels.includes('review'),
      'the handoff',
    );
    const { records } = await daemon.stop();
    expect(records.filter(({ msg }) => msg === 'reconciliation stops the run')).toEqual([]);
  });
});

describe('slots', () => {
  it('are taken by runs of a tracker that was left, and free again when those have ended', async () => {
    const A2 = { ...A1, id: '2', identifier: 'A-2' };
    await ground.write('old.json', JSON.stringify([A1]));
    await ground.write('new.json', JSON.stringify([{ ...A1, id: '5', identifier: 'N-5' }]));
    const one = (file: string, turnMs: number): string =>
      workflow(file, turnMs).replace('max_turns: 1', 'max_turns: 1\n  max_concurrent_agents: 1');
    await ground.write('WORKFLOW.md', one('old.json', 3_000));
    const daemon = await ground.start();
    await daemon.record('turn started', { issue_identifier: 'A-1' });
    await ground.write('WORKFLOW.md', one('new.json', 3_000));
    await daemon.record('workflow reloaded');
    await eventually(
      async () => ((await daemon.json('/api/v2/issues/N-5'))['holds'] as { reason: string }[] | undefined)?.[0]?.reason,
      (reason) => reason === 'no_global_slot',
      'the new one to wait for the slot',
    );
    await daemon.record('turn started', { issue_identifier: 'N-5' });
    // Back to the old one while the new one's run goes on: what it was told of slots before is out of date.
    await ground.write('old.json', JSON.stringify([{ ...A1, state: 'review' }, A2]));
    await ground.write('WORKFLOW.md', one('old.json', 50));
    await daemon.record('handoff transition succeeded, releasing claim', { issue_identifier: 'A-2' });
    const { runs } = (await daemon.json('/api/v2/runs')) as { runs: { started_at: string; ended_at: string }[] };
    const spans = runs.map(({ started_at: from, ended_at: to }) => [Date.parse(from), Date.parse(to)] as const).toReversed();
    for (const [index, [from]] of spans.slice(1).entries()) expect(from).toBeGreaterThanOrEqual(spans[index]![1]);
    expect(spans).toHaveLength(3);
    await daemon.stop();
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
