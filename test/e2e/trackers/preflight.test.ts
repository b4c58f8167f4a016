import { afterAll, describe, expect, it } from 'vitest';
import { createPlayground, type Playground, type RunningDaemon } from '../../support/daemon.ts';
import { text } from '../../support/http-server.ts';
import { buildStage, REMOTE_KINDS, remoteOf, stageWorkflow, type Stage } from './stage.ts';

const opened: { ground: Playground; stage: Stage }[] = [];
afterAll(async () => {
  for (const { ground, stage } of opened) {
    await ground.cleanup();
    await stage.close();
  }
});

/** A playground with a stage of its own, since the tests run beside each other: most of their time is waiting. */
async function open(kind: string): Promise<{ ground: Playground; stage: Stage }> {
  const ground = await createPlayground();
  const place = { ground, stage: await buildStage(kind, ground) };
  opened.push(place);
  return place;
}

type Refusal = readonly [kind: string, error: string, remedy: RegExp];

const WRONG_TOKEN: readonly Refusal[] = [
  ['graphql', 'tracker_auth_error', /check tracker\.api_key/],
  ['nsproject', 'tracker_auth_error', /check tracker\.api_key/],
  ['repoissues', 'tracker_auth_error', /check tracker\.api_key/],
  ['selfhosted', 'tracker_auth_error', /put a valid access token into tracker\.api_key/],
  ['wfboard', 'tracker_auth_error', /check tracker\.api_key/],
];

const WRONG_PROJECT: readonly (readonly [...Refusal, project: string])[] = [
  ['graphql', 'tracker_payload_error', /unknown team key.*tracker\.project/i, 'NOPE'],
  ['nsproject', 'tracker_not_found', /does not exist, or it is not visible.*tracker\.project/, 'acme/nope'],
  ['repoissues', 'tracker_not_found', /does not exist or the token may not see it.*tracker\.project/, 'acme/nope'],
  ['selfhosted', 'tracker_not_found', /no such repository, or .* cannot see it.*tracker\.project/, 'acme/nope'],
  ['wfboard', 'tracker_payload_error', /no such project, or .* may not see it.*tracker\.project/, 'NOPE'],
];

/** What start-up comes to while the remote is away: only some kinds must prove it first. */
const AWAY: Readonly<Record<string, 'ends' | 'starts'>> = {
  graphql: 'ends',
  nsproject: 'ends',
  repoissues: 'starts',
  selfhosted: 'ends',
  wfboard: 'starts',
};

/** Page, API and `foray status` tell what failed, why, when it is tried again and what to do, from the first failure on. */
async function saysWhy(ground: Playground, daemon: RunningDaemon): Promise<void> {
  const at = expect.any(String) as string;
  const error = expect.stringMatching(/^tracker: tracker_transport_error: (GET|POST) \/\S*: status 503/) as string;
  const remedy = expect.stringContaining('check tracker.endpoint') as string;
  expect((await daemon.json('/api/v2/holds'))['tracker_problem']).toEqual({ at, error, remedy, next_try_at: at });
  const page = (await (await daemon.get('/')).text()).replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');
  expect(page).toMatch(/(The tracker cannot be read yet|The last poll failed)\. .*status 503.* check tracker\.endpoint/);
  const { stdout } = await ground.run(['status', '--format', 'json', 'WORKFLOW.md']);
  const { problems } = JSON.parse(stdout) as { problems: readonly { what: string; message: string }[] };
  expect(problems).toMatchObject([{ what: 'tracker', message: expect.stringMatching(/status 503.*check tracker\.endpoint/) }]);
}

describe.concurrent('start-up', () => {
  it.each(REMOTE_KINDS)('%s: a remote that stays away', async (kind) => {
    const { ground, stage } = await open(kind);
    await ground.write('WORKFLOW.md', stageWorkflow(stage));
    await stage.goAway();
    if (AWAY[kind] === 'ends') {
      const finished = await ground.run(['WORKFLOW.md'], { env: stage.env });
      expect(finished.code).toBe(1);
      expect(finished.records.at(-1)?.['error']).toMatch(
        /^tracker: tracker_transport_error: (GET|POST) \/\S*: status 503.*; check that tracker\.endpoint/,
      );
      return;
    }
    const daemon = await ground.start(['--port', '0'], { env: stage.env });
    await daemon.record('the tracker cannot be read yet, trying again');
    await saysWhy(ground, daemon);
    await daemon.record('tracker preflight failed for now, starting all the same');
    await daemon.record('poll failed, nothing dispatched until the next one');
    await stage.comeBack();
    await daemon.record('tick completed', { candidates: '0' });
    expect((await daemon.stop()).code).toBe(0);
  });

  it.each(WRONG_TOKEN)('%s: a wrong token ends it with %s and a remedy', async (kind, error, remedy) => {
    const { ground, stage } = await open(kind);
    await ground.write('WORKFLOW.md', stageWorkflow(stage));
    const wrong = 'wrong@example.test:not-the-token';
    const env = Object.fromEntries(Object.keys(stage.env).map((name) => [name, wrong]));
    const finished = await ground.run(['WORKFLOW.md'], { env });
    expect(finished.code).toBe(1);
    expect(finished.records.at(-1)).toMatchObject({ level: 'ERROR', msg: 'foray failed' });
    expect(finished.records.at(-1)?.['error']).toMatch(new RegExp(`^tracker: ${error}: (GET|POST) /\\S*: .`));
    expect(finished.records.at(-1)?.['error']).toMatch(remedy);
    expect(finished.stderr).not.toContain('not-the-token');
    expect(finished.stderr).not.toContain('    at ');
  });

  it.each(WRONG_PROJECT)('%s: a wrong project ends it with %s and a remedy', async (kind, error, remedy, project) => {
    const { ground, stage } = await open(kind);
    await ground.write('WORKFLOW.md', stageWorkflow(stage).replace(/^ {2}project: .*$/m, `  project: ${project}`));
    const finished = await ground.run(['WORKFLOW.md'], { env: stage.env });
    expect(finished.code).toBe(1);
    expect(finished.records.at(-1)).toMatchObject({ level: 'ERROR', msg: 'foray failed' });
    expect(finished.records.at(-1)?.['error']).toMatch(new RegExp(`^tracker: ${error}: (GET|POST) /\\S*: .`));
    expect(finished.records.at(-1)?.['error']).toMatch(remedy);
  });

  it('graphql: a state that the team does not have ends it', async () => {
    const { ground, stage } = await open('graphql');
    await ground.write('WORKFLOW.md', stageWorkflow(stage).replace('active_states: [', 'active_states: [Nowhere, '));
    const finished = await ground.run(['WORKFLOW.md'], { env: stage.env });
    expect(finished.code).toBe(1);
    expect(finished.records.at(-1)?.['error']).toMatch(
      /^tracker: tracker_payload_error: .*state name not found in team.*Nowhere/,
    );
  });

  it.each(REMOTE_KINDS)('%s: a variable that is not set ends it before anybody is asked', async (kind) => {
    const { ground, stage } = await open(kind);
    await ground.write('WORKFLOW.md', stageWorkflow(stage));
    const finished = await ground.run(['WORKFLOW.md']);
    const [name = ''] = Object.keys(stage.env);
    expect(finished.code).toBe(1);
    const line = finished.stderr.split('\n').find((one) => one.startsWith('error: '));
    expect(line).toContain(`tracker.api_key is required for tracker kind ${kind}`);
    expect(line).toContain(name);
    expect(remoteOf(stage).proxy.requests).toEqual([]);
  });

  it.each(REMOTE_KINDS)('%s: a failure that heals is tried again', async (kind) => {
    const { ground, stage } = await open(kind);
    await ground.write('WORKFLOW.md', stageWorkflow(stage));
    // What it may be told about the token itself is only advice, and never asked for twice.
    const failed = remoteOf(stage).proxy.answerNext(({ path }) => !path.endsWith('/self'), text('oops', 502));
    const daemon = await ground.start(['--port', '0'], { env: stage.env });
    await failed;
    await daemon.record('tick completed', { candidates: '0' });
    const told = daemon
      .records()
      .filter(({ level, msg }) => (level === 'WARN' || level === 'ERROR') && msg !== 'workflow warning');
    // While it is tried again nobody looks at silence; there is nothing else to tell.
    const [why] = told.filter(({ msg }) => msg === 'the tracker cannot be read yet, trying again');
    expect(why?.['error']).toContain('502');
    for (const record of told) if (record !== why) expect(record['msg']).toBe('the tracker has not answered yet, still trying');
    expect((await daemon.stop()).code).toBe(0);
  });
});
