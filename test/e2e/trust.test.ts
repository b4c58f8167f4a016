import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startFakeGitlab, type FakeGitlab } from '../fakes/gitlab.ts';
import { createPlayground, eventually, fileWorkflow, workflowText, type LogRecord, type Playground } from '../support/daemon.ts';
import { json } from '../support/http-server.ts';

let ground: Playground;
let fake: FakeGitlab | null = null;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(async () => {
  await fake?.close();
  fake = null;
  await ground.cleanup();
});

const PARKING = { agent: 'kind: mock\nmax_turns: 1\nmax_tokens: 1', mock: 'input_tokens_per_turn: 9' };

function gitlabWorkflow({ url, token }: FakeGitlab, project: string): string {
  const states = 'active_states: [ready]\nterminal_states: [done]\nhandoff_state: review';
  return workflowText({
    tracker: `kind: gitlab\nendpoint: ${url}\napi_key: ${token}\nproject: "${project}"\n${states}`,
    polling: 'interval_ms: 100',
    workspace: 'root: ws',
    ...PARKING,
  });
}

describe('edits of the workflow file', { timeout: 60_000 }, () => {
  it('are applied in order, tried again after an outage, and a rejected one shows outside of the log', async () => {
    fake = await startFakeGitlab();
    const { project } = fake;
    fake.addIssue({ labels: ['ready'] });
    await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'First', state: 'later' }]);
    await ground.write('WORKFLOW.md', fileWorkflow());
    const daemon = await ground.start();
    await daemon.record('tick completed');
    const away = () => fake!.failNext({ path: /\/projects\/[^/]+$/ }, json({ message: 'bad gateway' }, 502), 4);

    // An older edit whose check takes long does not override the newer one.
    away();
    await ground.write('WORKFLOW.md', gitlabWorkflow(fake, project.path));
    await fake.arrived(1);
    const later = fileWorkflow({ tracker: 'kind: file\nactive_states: [later]\nterminal_states: [done]\nhandoff_state: review' });
    await ground.write('WORKFLOW.md', later);
    await daemon.record('handoff transition succeeded, releasing claim', { issue_identifier: 'A-1' });
    expect(fake.requests.filter(({ path }) => path.endsWith('/issues'))).toEqual([]);
    const isOutage = ({ msg = '', problems = '' }: LogRecord): boolean =>
      msg.startsWith('workflow edit rejected') && problems.includes('502');
    expect(daemon.records().filter(isOutage)).toEqual([]);

    // A good edit that met an outage shows as rejected, and is applied once the tracker is there again.
    away();
    await ground.write('WORKFLOW.md', gitlabWorkflow(fake, project.path));
    await eventually(() => daemon.records().some(isOutage), Boolean, 'the rejection');
    await daemon.record('workflow reloaded');
    await daemon.record('issue parked until a person acts', { issue_identifier: '1' });
    expect(await daemon.json('/api/v2/workflow')).toMatchObject({ rejected: null });

    // The id and the path of one project are one project.
    await ground.write('WORKFLOW.md', gitlabWorkflow(fake, String(project.id)));
    await eventually(
      () => daemon.records().filter(({ msg }) => msg === 'workflow reloaded').length,
      (count) => count >= 3,
      'the edit',
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await daemon.json('/api/v2/parked'))['parked']).toMatchObject([{ issue_identifier: '1' }]);

    // A broken edit: the last good file stays in force, and everybody can see why the new one does not.
    await ground.write('WORKFLOW.md', '---\ntracker: [\n---\n');
    await eventually(
      () => daemon.json('/api/v2/workflow'),
      ({ rejected }) => rejected !== null,
      'the broken edit to show',
    );
    const { rejected, path, applied_at, warnings } = await daemon.json('/api/v2/workflow');
    expect(rejected).toMatchObject({
      at: expect.any(String) as string,
      reason: expect.stringContaining('workflow.yaml') as string,
    });
    expect([path, applied_at, warnings]).toEqual([ground.path('WORKFLOW.md'), expect.any(String), expect.any(Array)]);
    const ready = await daemon.get('/readyz');
    expect(ready.status).toBe(200);
    const health = (await ready.json()) as Record<string, unknown>;
    expect(JSON.stringify(health['workflow_error'])).toContain('workflow.yaml');
    expect(health['checks']).toEqual({ database: 'pass', preflight: 'pass', workflow: 'pass' });
    expect(await (await daemon.get('/')).text()).toContain('workflow.yaml');
    await daemon.stop();
  });
});

describe('agent.evidence: changes', () => {
  it('fails a run that left nothing behind, and passes one that changed a file, committed or pushed, whatever files were prepared', async () => {
    await ground.writeIssues([
      { id: '1', identifier: 'A-1', title: 'Idle', state: 'todo' },
      { id: '2', identifier: 'A-2', title: 'Busy', state: 'todo' },
      { id: '3', identifier: 'A-3', title: 'Busy, outside of a repository', state: 'todo' },
      { id: '4', identifier: 'A-4', title: 'Commits', state: 'todo' },
      { id: '5', identifier: 'A-5', title: 'Pushes a branch', state: 'todo' },
      { id: '6', identifier: 'A-6', title: 'Only says so', state: 'todo' },
      { id: '7', identifier: 'A-7', title: 'Only says so, outside of a repository', state: 'todo' },
      { id: '8', identifier: 'A-8', title: 'Only gives names', state: 'todo' },
    ]);
    // The mock changes no files; a verification command stands in for an agent that does.
    const agent = 'kind: mock\nmax_turns: 1\nevidence: changes';
    const claim = JSON.stringify({
      branch: 'b',
      sha: 'a'.repeat(40),
      pushed_at: new Date().toISOString(),
      pr_number: 1,
      owner: 'o',
      repo: 'r',
    });
    const deeds = [
      'A-2|A-3) touch made ;;',
      'A-4) git -c user.name=a -c user.email=a@b commit -q --allow-empty -m work ;;',
      'A-5) git init -q --bare ../../far-away.git; git remote add origin ../../far-away.git; git push -q origin HEAD:refs/heads/work ;;',
      'A-8) git checkout -qb work; git tag v1 ;;',
      `A-6|A-7) printf '%s' '${claim}' > .foray/scm.json ;;`,
    ];
    const self = `enabled: true\nverification_commands:\n  - >-\n    case "$(basename "$PWD")" in ${deeds.join(' ')} esac`;
    // What the repository itself brings along is not the agent's word: neither that it is blocked, nor a merge request.
    const commit = 'git init -q && git add -f . && git -c user.name=a -c user.email=a@b commit -qm first';
    const trap = 'mkdir -p .foray && echo blocked > .foray/status && echo {} > .foray/scm.json';
    const hooks = `after_create: ${trap} && case $FORAY_ISSUE_ID in 3|7) ;; *) ${commit} ;; esac\nbefore_run: ${trap}`;
    await ground.write('WORKFLOW.md', fileWorkflow({ agent, self_review: self, hooks }));
    const daemon = await ground.start();
    for (const id of ['A-2', 'A-3', 'A-4', 'A-5'])
      await daemon.record('handoff transition succeeded, releasing claim', { issue_identifier: id });
    for (const id of ['A-1', 'A-6', 'A-7', 'A-8']) {
      const retry = await daemon.record('retry scheduled', { issue_identifier: id });
      expect(retry['error'], `${id}\n${daemon.stderr()}`).toContain('agent_no_evidence');
    }
    const { retrying } = (await daemon.json('/api/v1/state')) as { retrying: { error: string }[] };
    expect(retrying).toHaveLength(4);
    expect(retrying[0]?.error).toContain('agent_no_evidence');
    expect((await daemon.json('/api/v2/parked'))['parked']).toEqual([]);
    expect(daemon.records().filter(({ msg }) => msg === 'scm file ignored')).toEqual([]);
    await daemon.stop();
  });
});

describe('reactions of a tracker of another kind', () => {
  const reactions = (provider: string, projects: string): string =>
    `${projects}auto_merge: { provider: ${provider} }\nmerge_completion: { provider: ${provider}, target_state: done }`;
  const block = (provider: string): Readonly<Record<string, string>> => ({
    [provider]: `endpoint: http://127.0.0.1:9\napi_key: secret\nproject: acme/shop`,
  });

  it.each(['repoissues', 'nsproject', 'selfhosted'])(
    '%s: the projects whose requests are ours are named, by their full path',
    async (provider) => {
      await ground.writeIssues([]);
      const said = async (projects: string): Promise<string> => {
        await ground.write('WORKFLOW.md', fileWorkflow({ ...block(provider), reactions: reactions(provider, projects) }));
        return (await ground.run(['validate', 'WORKFLOW.md'])).stderr;
      };
      expect(await said('')).toContain('error: reactions.projects.required');
      expect(await said('projects: [shop]\n')).toContain('error: reactions.projects');
      const fine = await said(provider === 'nsproject' ? 'projects: [acme/tools/shop]\n' : 'projects: [acme/shop]\n');
      expect(fine).not.toContain('reactions.projects');
    },
  );
});
