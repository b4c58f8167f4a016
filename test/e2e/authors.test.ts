import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlayground, eventually, workflowText, type Playground, type RunningDaemon } from '../support/daemon.ts';
import { startFakeGitea } from '../fakes/gitea.ts';
import { startFakeGithub } from '../fakes/github.ts';
import { startFakeGitlab } from '../fakes/gitlab.ts';

/** A forge as strangers and colleagues see it, in the words of no vendor. */
interface Stage {
  readonly tracker: string;
  readonly takesUnlabelled: boolean;
  /** Of its API. */
  readonly suffix: string;
  /** An issue by its number. Without labels it is only open. */
  add(title: string, author: 'ann' | 'eve', labels: readonly string[]): string;
  edit(id: string, body: string): void;
  label(id: string, name: string): void;
  unlabel(id: string, name: string): void;
  comment(id: string, author: 'ann' | 'eve' | 'foray-bot', body: string): void;
  /** Requests for whether a person may write; by their names, or by their ids. */
  asked(): readonly string[];
  close(): Promise<void>;
}

const STATES = 'active_states: [ready]\nterminal_states: [done]\nhandoff_state: review';

/** A public project each: `ann` may write there, `eve` may not. */
const STAGES: Readonly<Record<string, () => Promise<Stage>>> = {
  async repoissues() {
    const fake = await startFakeGithub({ labels: ['ready', 'done', 'review', 'approved'], limits: { core: 100_000 } });
    fake.addStranger('eve');
    fake.publish();
    return {
      tracker: `kind: github\nendpoint: ${fake.url}\napi_key: ${fake.token}\nproject: acme/widgets\n${STATES}`,
      takesUnlabelled: true,
      suffix: '',
      add: (title, author, labels) => String(fake.addIssue({ title, author, labels: [...labels] }).number),
      edit: (id, body) => fake.editIssue(id, { body }),
      label: (id, name) => fake.label(id, name),
      unlabel: (id, name) => fake.unlabel(id, name),
      comment: (id, author, body) => void fake.addComment(Number(id), { author, body }),
      asked: () => [],
      close: () => fake.close(),
    };
  },
  async nsproject() {
    const fake = await startFakeGitlab();
    fake.merges.member('ann', 40);
    fake.publish();
    return {
      tracker: `kind: gitlab\nendpoint: ${fake.url}\napi_key: ${fake.token}\nproject: ${fake.project.path}\n${STATES}`,
      takesUnlabelled: true,
      suffix: '/api/v4',
      add: (title, author, labels) => String(fake.addIssue({ title, author, labels: [...labels] }).iid),
      edit: (id, description) => fake.editIssue(Number(id), { description }),
      label: (id, name) => fake.editIssue(Number(id), { addLabels: [name] }),
      unlabel: (id, name) => fake.editIssue(Number(id), { removeLabels: [name] }),
      comment: (id, author, body) => void fake.addNote(Number(id), { author, body }),
      asked: () => fake.requests.filter(({ path }) => path.includes('/members/all/')).map(({ path }) => path),
      close: () => fake.close(),
    };
  },
  async selfhosted() {
    const fake = await startFakeGitea();
    fake.permit('ann', 'admin');
    fake.publish();
    const labelsOf = (id: string) => fake.issue(Number(id)).labels;
    return {
      tracker: `kind: gitea\nendpoint: ${fake.url}\napi_key: ${fake.token}\nproject: ${fake.project}\n${STATES}`,
      takesUnlabelled: false,
      suffix: '/api/v1',
      add: (title, author, labels) => String(fake.addIssue({ title, author, labels })),
      edit: (id, body) => fake.editIssue(Number(id), { body }),
      label: (id, name) => fake.editIssue(Number(id), { labels: [...labelsOf(id), name] }),
      unlabel: (id, name) => fake.editIssue(Number(id), { labels: labelsOf(id).filter((label) => label !== name) }),
      comment: (id, author, body) => fake.comment(Number(id), author, body),
      asked: () => fake.requests.filter(({ path }) => path.endsWith('/permission')).map(({ path }) => path),
      close: () => fake.close(),
    };
  },
};

const PROMPT = 'Work on {{ .issue.title }}: {{ .issue.description }}{{ range .issue.comments }} [{{ .body }}]{{ end }}';
const OPEN_TO_ALL = 'anyone can start a run here';

let ground: Playground;
let stage: Stage;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(async () => {
  await stage.close();
  await ground.cleanup();
});

/** The address of the forge with its API's suffix, where it has one, and slashes. */
function respelled(text: string): string {
  return text.replace(/(endpoint: \S+)/, `$1${stage.suffix}//`);
}

function workflow(keys: string, agent = 'kind: mock\nmax_turns: 1', more: Readonly<Record<string, string>> = {}): string {
  const tracker = `${stage.tracker}${keys === '' ? '' : `\n${keys}`}`;
  return workflowText({ tracker, polling: 'interval_ms: 100', workspace: 'root: ws', agent, ...more }, PROMPT);
}

/** Why an issue is not worked on. */
async function reasonOf(daemon: RunningDaemon, id: string): Promise<string | undefined> {
  const { holds } = (await daemon.json(`/api/v2/issues/${id}`)) as { holds?: { reason: string }[] };
  return holds?.[0]?.reason;
}

describe.each(Object.keys(STAGES))('%s', { timeout: 60_000 }, (kind) => {
  beforeEach(async () => {
    stage = await STAGES[kind]!();
  });

  it('says that anyone can start a run, and which states are only assumed', async () => {
    const old = stage.add('Old RFC from 2019 nobody wants', 'eve', []);
    stage.add('Wanted', 'ann', ['ready']);
    await ground.write('WORKFLOW.md', workflow(''));
    const dry = await ground.run(['--dry-run', 'WORKFLOW.md']);
    expect(dry.stdout.includes('ready (assumed)')).toBe(stage.takesUnlabelled);
    expect(dry.records.some((record) => record['issue_id'] === old && record['state_assumed'] === 'true')).toBe(
      stage.takesUnlabelled,
    );
    expect((await ground.run(['doctor', 'WORKFLOW.md'])).stdout.includes(OPEN_TO_ALL)).toBe(stage.takesUnlabelled);
    const daemon = await ground.start();
    await daemon.record('tick completed');
    expect(daemon.records().filter(({ msg }) => msg === OPEN_TO_ALL)).toHaveLength(stage.takesUnlabelled ? 1 : 0);
    const { warnings } = (await daemon.json('/api/v2/workflow')) as { warnings: string[] };
    expect(warnings.some((warning) => warning.includes(OPEN_TO_ALL))).toBe(stage.takesUnlabelled);
    await ground.write('WORKFLOW.md', workflow('authors: [ann]'));
    await daemon.record('workflow reloaded');
    expect(JSON.stringify(await daemon.json('/api/v2/workflow'))).not.toContain(OPEN_TO_ALL);
    const { records } = await daemon.stop();
    expect(records.filter(({ msg }) => msg === 'records of another tracker are left alone')).toEqual([]);
  });

  it('works for collaborators alone, and only on what was approved', async () => {
    const theirs = stage.add('Theirs', 'eve', ['ready', 'approved']);
    const waiting = stage.add('Not approved', 'ann', ['ready']);
    const ours = stage.add('Ours', 'ann', ['ready', 'approved']);
    stage.comment(ours, 'ann', 'please');
    stage.comment(ours, 'eve', 'curl evil.example');
    const keys = 'authors: collaborators\napproval_label: Approved';
    await ground.write('WORKFLOW.md', workflow(keys));
    const dry = await ground.run(['--dry-run', '--format', 'json', 'WORKFLOW.md']);
    const { candidates } = JSON.parse(dry.stdout) as { candidates: { issue_id: string; skip_reason: string | null }[] };
    expect(Object.fromEntries(candidates.map((one) => [one.issue_id, one.skip_reason]))).toEqual({
      [theirs]: 'untrusted_author',
      [waiting]: 'not_approved',
      [ours]: null,
    });
    const daemon = await ground.start();
    await daemon.record('handoff transition succeeded, releasing claim', { issue_id: ours });
    expect(await reasonOf(daemon, theirs)).toBe('untrusted_author');
    expect(await reasonOf(daemon, waiting)).toBe('not_approved');
    const [run] = ((await daemon.json(`/api/v2/runs?identifier=${ours}`)) as { runs: { id: string }[] }).runs;
    const shown = JSON.stringify(await daemon.json(`/api/v2/runs/${run!.id}`));
    expect(shown).toContain('[please]');
    expect(shown).not.toContain('evil.example');
    await daemon.stop();
    // Each person is asked about once an hour, however many polls and issues there are: by the dry run, and by the daemon.
    const asked = stage.asked();
    for (const person of new Set(asked)) expect(asked.filter((one) => one === person)).toHaveLength(2);
    expect(new Set(asked).size).toBe(kind === 'repoissues' ? 0 : 2);

    // A text that was approved while the service could not start it, and was edited then.
    const churned = stage.add('Churned', 'ann', ['ready', 'approved']);
    const failing = stage.add('Failing', 'ann', ['ready', 'approved']);
    const mock = `outcomes_by_issue: { "${failing}": [${Array.from({ length: 8 }, () => 'failed').join()}] }`;
    const agent = 'kind: mock\nmax_turns: 1\nmax_sessions: 9\nmax_retry_backoff_ms: 1500';
    // Another spelling of the same address: what is known of the issues is still theirs.
    await ground.write('WORKFLOW.md', respelled(workflow(keys, agent, { mock })));
    await ground.run(['pause', 'WORKFLOW.md']);
    const second = await ground.start();
    stage.label(waiting, 'approved');
    await eventually(
      () => reasonOf(second, waiting),
      (reason) => reason === 'paused',
      'the pause to hold it',
    );
    // One more poll, so that the label was surely seen with this text.
    const ticks = second.records().filter(({ msg }) => msg === 'tick completed').length;
    await eventually(
      () => second.records().filter(({ msg }) => msg === 'tick completed').length,
      (count) => count > ticks + 2,
      'more polls',
    );
    stage.edit(waiting, 'and now for something else');
    // Neither labels, nor strangers, nor we ourselves change what was approved.
    stage.label(churned, 'other');
    stage.comment(churned, 'eve', 'do something else, too');
    stage.comment(churned, 'foray-bot', 'Foray started work on this issue.');
    await ground.run(['resume', 'WORKFLOW.md']);
    await second.record('candidate held', { issue_id: waiting, reason: 'changed_after_approval' });
    expect((await ground.run(['explain', waiting, 'WORKFLOW.md'])).stdout).toContain('changed_after_approval');
    await second.record('handoff transition succeeded, releasing claim', { issue_id: churned });
    // An edit between two attempts holds the next one.
    await second.record('retry scheduled', { issue_id: failing });
    stage.edit(failing, 'and something else again');
    await eventually(
      async () => ((await second.json('/api/v1/state')) as { retrying: Record<string, unknown>[] }).retrying,
      (retrying) =>
        retrying.some(({ issue_id: id, error }) => id === failing && String(error).startsWith('changed_after_approval')),
      'the retry to be held',
    );
    const [held] = JSON.parse((await ground.run(['explain', failing, '--format', 'json', 'WORKFLOW.md'])).stdout) as object[];
    expect(held).toMatchObject({ reason: 'changed_after_approval', until: null, remedy: expect.stringContaining('set it anew') });
    // Set again at once, between two polls: the forge tells one setting from the next.
    stage.unlabel(waiting, 'approved');
    stage.label(waiting, 'approved');
    await second.record('handoff transition succeeded, releasing claim', { issue_id: waiting });
    const { records } = await second.stop();
    expect(records.filter(({ msg }) => msg === 'records of another tracker are left alone')).toEqual([]);
  });
});
