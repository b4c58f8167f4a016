import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Playground } from '../../support/daemon.ts';
import { createPlayground, eventually, workflowText } from '../../support/daemon.ts';
import type { Ground } from './ground.ts';
import { giteaFromEnvironment, must, prepareGround } from './ground.ts';
import { openRepository, type Repository } from './repository.ts';

const server = giteaFromEnvironment();
const SECRET = 'a secret of this suite';

describe.skipIf(server === null)('documents 1 to 3: the built daemon on a real server', () => {
  let ground: Ground;
  let repo: Repository;
  const places: Playground[] = [];
  beforeAll(async () => {
    ground = await prepareGround(server!);
    repo = openRepository(ground, await ground.addRepo());
    for (const name of ['todo', 'review', 'done', 'foray:fix']) await repo.addLabel(name);
  });
  afterEach(async () => {
    for (const place of places.splice(0)) await place.cleanup();
  });
  afterAll(async () => ground?.cleanup());

  /** Runs that change a file each time, pushed by git, with every reaction on. */
  const start = async (sections: Readonly<Record<string, string>> = {}) => {
    const place = await createPlayground({ patienceMs: 45_000 });
    places.push(place);
    const often = 'provider: gitea, poll_interval_ms: 300';
    const all = {
      tracker: `kind: gitea\nendpoint: ${ground.url}\nproject: ${repo.project}\napi_key: $TOKEN\nactive_states: [todo]\nterminal_states: [done]\nhandoff_state: review`,
      polling: 'interval_ms: 1000',
      workspace: `root: ws\nrepo: ${ground.url}/${repo.project}.git`,
      hooks: 'before_run: date +%s%N >> "work-$FORAY_ISSUE_IDENTIFIER"',
      agent: 'kind: mock\nmax_turns: 1',
      reactions: [
        `ci_failure: { ${often}, max_retries: 2 }`,
        `review_comments: { ${often}, debounce_ms: 0 }`,
        `auto_merge: { ${often}, strategy: squash, ci_grace_ms: 600000 }`,
        `merge_completion: { ${often}, target_state: done }`,
        `label_commands: { ${often} }`,
      ].join('\n'),
      ...sections,
    };
    await place.write('WORKFLOW.md', workflowText(all));
    return place.start(['--port', '0'], { env: { TOKEN: ground.bot.token } });
  };
  const addIssue = async (title: string) => repo.addIssue({ title, labels: [await repo.labelId('todo')] });
  const labelled = (id: string, label: string) =>
    until(
      () => repo.labelsOf(id),
      (labels) => labels.includes(label),
      `issue ${id} with the label ${label}`,
    );
  const requestOf = async (id: string) => {
    const open = (await must(ground.call, 'GET', repo.at('/pulls?state=open'))) as { number: number; head: { ref: string } }[];
    return open.find(({ head }) => head.ref === `foray/${id}`)?.number ?? 0;
  };
  const nextHead = (number: number, last: string) =>
    until(
      async () => (await repo.pull(number)).head.sha,
      (sha) => sha !== last,
      `a head after ${last}`,
    );

  it('takes an issue from todo to merged: red CI, a review, a label command, an approval', async () => {
    await must(ground.call, 'POST', repo.at('/branch_protections'), { rule_name: 'main', required_approvals: 1 });
    onTestFinished(() => ground.call('DELETE', repo.at('/branch_protections/main')).then(() => undefined));
    const id = await addIssue('The whole way');
    const daemon = await start();
    await labelled(id, 'review');
    const number = await until(
      () => requestOf(id),
      (found) => found > 0,
      'a pull request',
    );
    const first = (await repo.pull(number)).head.sha;

    await repo.status(first, { state: 'failure', context: 'build', description: 'it does not build' });
    const second = await nextHead(number, first);
    await repo.status(second, { state: 'pending', context: 'build' });

    await repo.review(number, ground.reviewer, { event: 'REQUEST_CHANGES', body: 'another word, please' });
    const third = await nextHead(number, second);
    await repo.status(third, { state: 'pending', context: 'build' });

    await labelled(id, 'review');
    await repo.setLabels(number, ['foray:fix'], ground.reviewer);
    const fourth = await nextHead(number, third);
    await until(
      () => repo.labelsOf(number),
      (labels) => labels.length === 0,
      'the command taken off',
    );

    await repo.status(fourth, { state: 'success', context: 'build' });
    expect((await repo.pull(number)).merged).toBe(false);
    await repo.review(number, ground.reviewer, { event: 'APPROVED', body: 'fine' });
    await until(
      async () => (await repo.pull(number)).merged,
      (merged) => merged,
      'the merge',
    );
    await labelled(id, 'done');
    await until(
      async () => (await repo.issue(id)).state,
      (state) => state === 'closed',
      'the issue closed',
    );
    await until(
      () => repo.branches(),
      (names) => !names.includes(`foray/${id}`),
      'the branch deleted',
    );
    expect(daemon.stderr()).not.toContain(ground.bot.token);
    await daemon.stop();
  }, 180_000);

  it('hears the webhooks of the server: between them it asks for nothing', async () => {
    const rarely = 'provider: gitea, poll_interval_ms: 3600000';
    const daemon = await start({
      polling: 'interval_ms: 3600000',
      server: `port: 0\nwebhooks: { secret: ${JSON.stringify(SECRET)} }`,
      reactions: `merge_completion: { ${rarely}, target_state: done }`,
    });
    await daemon.record('tick completed');
    const config = { url: `${daemon.url}/hooks/gitea`, content_type: 'json', secret: SECRET };
    const events = ['issues', 'issue_label', 'issue_comment', 'pull_request', 'pull_request_review_approved', 'push', 'status'];
    const hook = (await must(ground.call, 'POST', repo.at('/hooks'), { type: 'gitea', config, events, active: true })) as {
      id: number;
    };
    const id = await addIssue('By webhook');
    await labelled(id, 'review');
    const number = await until(
      () => requestOf(id),
      (found) => found > 0,
      'a pull request',
    );
    await until(
      () =>
        ground
          .call('POST', repo.at(`/pulls/${String(number)}/merge`), { Do: 'squash' }, ground.reviewer.token)
          .then(({ status }) => status),
      (status) => status === 200,
      'a merge by a person',
    );
    await labelled(id, 'done');
    await daemon.stop();
    await must(ground.call, 'DELETE', repo.at(`/hooks/${String(hook.id)}`));
  }, 120_000);

  it('stops a run whose state label is gone for two polls, and keeps its workspace', async () => {
    const id = await addIssue('Label lost');
    const daemon = await start({ mock: 'turn_delay_ms: 600000', polling: 'interval_ms: 1500' });
    await daemon.record('agent session started', { issue_id: id });
    await repo.setLabels(id, []);
    await until(
      async () => JSON.stringify((await daemon.json('/api/v1/state'))['running']),
      (running) => !running.includes(`"${id}"`),
      'the end of the run',
    );
    expect(await repo.labelsOf(id)).toEqual([]);
    await daemon.stop();
  }, 90_000);

  it('refuses to start on a wrong token, with the reason and the remedy', async () => {
    const place = await createPlayground({ patienceMs: 45_000 });
    places.push(place);
    const tracker = `kind: gitea\nendpoint: ${ground.url}\nproject: ${repo.project}\napi_key: $TOKEN\nactive_states: [todo]\nterminal_states: [done]`;
    await place.write('WORKFLOW.md', workflowText({ tracker, agent: 'kind: mock' }));
    const ended = await place.run(['WORKFLOW.md'], { env: { TOKEN: '0'.repeat(40) } });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/tracker_auth_error.*tracker\.api_key/);
  }, 60_000);
});

/** As `eventually`, as patient as a server under load needs it. */
async function until<T>(look: () => Promise<T>, holds: (value: T) => boolean, what: string): Promise<T> {
  const deadline = Date.now() + 45_000;
  for (;;) {
    const value = await look();
    if (holds(value)) return value;
    if (Date.now() > deadline) return eventually(() => value, holds, what);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
