import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlayground, eventually, type Playground, type RunningDaemon } from '../../support/daemon.ts';
import { json, reset, text, truncatedJson, type Reply } from '../../support/http-server.ts';
import { loadProviders } from '../../../src/providers/registry.ts';
import { buildStage, KINDS, remoteOf, stageWorkflow, type Stage, type StageNames } from './stage.ts';

const PROVIDERS = await loadProviders();

const HTML = { 'content-type': 'text/html' };
const HANDED_OFF = 'handoff transition succeeded, releasing claim';

it('every kind of the registry has a stage', () => {
  expect(KINDS).toEqual(PROVIDERS.map(({ kind }) => kind));
});

// One daemon for each kind, and its issues told in the order of their lives.
describe.each(KINDS)('%s, the whole way', (kind) => {
  let ground: Playground;
  let stage: Stage;
  let daemon: RunningDaemon;
  let over: StageNames;
  let straight: StageNames;
  let long: StageNames;

  beforeAll(async () => {
    ground = await createPlayground();
    stage = await buildStage(kind, ground);
    over = await stage.add({ title: 'Over before we came', state: stage.states.done });
    straight = await stage.add({ title: 'Straight through', state: stage.states.todo });
    long = await stage.add({ title: 'Takes for ever', state: stage.states.todo });
    await stage.add({ title: 'Not ours', state: stage.states.handoff });
    // An earlier run left it.
    await mkdir(ground.path('ws', over.identifier), { recursive: true });
    const mock = `outcomes_by_issue:\n  ${JSON.stringify(long.identifier)}: [hang]`;
    await ground.write('WORKFLOW.md', stageWorkflow(stage, { mock }));
    daemon = await ground.start(['--port', '0'], { env: stage.env });
  });
  afterAll(async () => {
    await ground.cleanup();
    await stage.close();
  });

  /** Waits for the end of a good run, which is the comment that tells of it. */
  const handedOff = async ({ id, identifier }: StageNames): Promise<void> => {
    await daemon.record(HANDED_OFF, { issue_identifier: identifier });
    await eventually(
      () => stage.commentsOf(id),
      (bodies) => bodies.some((body) => body.includes('finished its work')),
      'the comment',
    );
    expect(await stage.stateOf(id)).toBe(stage.states.handoff);
  };
  const told = (msg: string | null, match: Readonly<Record<string, string>> = {}) =>
    daemon
      .records()
      .filter(
        (entry) => (msg ?? entry['msg']) === entry['msg'] && Object.entries(match).every(([key, value]) => entry[key] === value),
      );

  it('clears at start the directory of what is already terminal; one that nobody marked is only moved aside', async () => {
    await daemon.record('directory without a mark moved aside', { issue_id: over.id, issue_identifier: over.identifier });
    expect(existsSync(ground.path('ws', over.identifier))).toBe(false);
  });

  it('takes candidates in and says what it does, in order', async () => {
    await handedOff(straight);
    expect(told('tick completed')[0]).toMatchObject({ candidates: '2', dispatched: '2', running: '2', retrying: '0' });
    const all = told(null, { issue_identifier: straight.identifier, level: 'INFO' });
    const own = all.slice(0, all.findIndex((entry) => entry['msg'] === HANDED_OFF) + 1);
    expect(own.map((entry) => entry['msg'])).toEqual([
      'in-progress transition succeeded',
      'workspace prepared',
      'agent session started',
      'turn started',
      'turn completed',
      'worker exiting',
      HANDED_OFF,
    ]);
    for (const entry of own) expect(entry).toMatchObject({ issue_id: straight.id });
    expect(own.at(-1)).toMatchObject({ handoff_state: stage.states.handoff });
    expect(await stage.commentsOf(straight.id)).toHaveLength(1);
    expect(existsSync(ground.path('ws', straight.identifier))).toBe(true);
  });

  it('moves an issue to the in-progress state before the agent runs, and shows it so', async () => {
    await daemon.record('turn started', { issue_identifier: long.identifier });
    expect(await stage.stateOf(long.id)).toBe(stage.states.doing);
    const { running } = (await daemon.json('/api/v1/state')) as { running: Record<string, unknown>[] };
    expect(running).toContainEqual(
      expect.objectContaining({
        issue_id: long.id,
        issue_identifier: long.identifier,
        state: stage.states.doing,
        workspace_path: ground.path('ws', long.identifier),
      }),
    );
  });

  it('keeps running what runs while the tracker is away, and takes up what came meanwhile', async () => {
    await stage.goAway();
    const added = await stage.add({ title: 'Came meanwhile', state: stage.states.todo });
    const failed = await daemon.record('poll failed, nothing dispatched until the next one');
    expect(failed['error']).toMatch(/^tracker: tracker_transport_error: [A-Z]+ \/\S+: ./);
    await daemon.record('states could not be read, running issues keep running');
    const { running } = (await daemon.json('/api/v1/state')) as { running: Record<string, unknown>[] };
    expect(running.map((entry) => entry['issue_id'])).toContain(long.id);
    expect((await daemon.get('/readyz')).status).toBe(200);
    await stage.comeBack();
    await handedOff(added);
    expect(told('worker exiting', { issue_identifier: long.identifier })).toEqual([]);
  });

  it('stops a running issue that turns terminal and removes its workspace', async () => {
    expect(existsSync(ground.path('ws', long.identifier))).toBe(true);
    await stage.move(long.id, stage.states.done);
    await daemon.record('reconciliation stops the run', { issue_identifier: long.identifier, reason: 'terminal' });
    await daemon.record('workspace removed', { issue_identifier: long.identifier });
    expect(existsSync(ground.path('ws', long.identifier))).toBe(false);
    expect(await stage.stateOf(long.id)).toBe(stage.states.done);
    expect(told(HANDED_OFF, { issue_identifier: long.identifier })).toEqual([]);
    expect((await daemon.get(`/api/v1/${long.identifier}`)).status).toBe(404);
  });

  it.skipIf(kind === 'file')('goes on when it may not move an issue to the in-progress state', async () => {
    const { proxy, isWrite } = remoteOf(stage);
    const refused = proxy.answerNext(isWrite, forbidden());
    const issue = await stage.add({ title: 'Refused at first', state: stage.states.todo });
    await refused;
    const record = await daemon.record('in-progress transition refused, the run goes on', { issue_identifier: issue.identifier });
    expect(record).toMatchObject({ level: 'WARN', in_progress_state: stage.states.doing });
    expect(record['error']).toContain('tracker: tracker_auth_error: ');
    await handedOff(issue);
  });

  it.skipIf(kind === 'file')('continues after a refused handoff', async () => {
    const { proxy, isWrite } = remoteOf(stage);
    const refused = proxy.answerNext(isWrite, forbidden());
    // Already there, so that the first write is the handoff.
    const issue = await stage.add({ title: 'Refused at last', state: stage.states.doing });
    const only = { issue_identifier: issue.identifier };
    await refused;
    const record = await daemon.record('handoff transition refused, continuing', only);
    expect(record['error']).toContain('tracker: tracker_auth_error: ');
    await daemon.record('retry scheduled', { ...only, trigger: 'continuation', delay_ms: '1000' });
    await handedOff(issue);
    expect(told('agent session started', only)).toHaveLength(2);
  });

  it.skipIf(kind === 'file').each([
    ['fails', 'tracker_transport_error', text('<html>Bad Gateway</html>', 502, HTML)],
    ['breaks off', 'tracker_transport_error', reset()],
    ['shows a page in place of a success', 'tracker_payload_error', text('<html>Log in</html>', 200, HTML)],
  ])('tries only the handoff again when the remote %s in it', async (_name, error, reply) => {
    const { proxy, isWrite } = remoteOf(stage);
    const failed = proxy.answerNext(isWrite, reply);
    const issue = await stage.add({ title: 'Failed at last', state: stage.states.doing });
    const only = { issue_identifier: issue.identifier };
    await failed;
    const record = await daemon.record('handoff transition failed, it is tried again', only);
    expect(record['error']).toContain(`tracker: ${error}: `);
    await handedOff(issue);
    expect(told('agent session started', only)).toHaveLength(1);
  });

  it.skipIf(kind === 'file')('tries a run again whose issue could not be read, and loses nothing', async () => {
    const { proxy, isIssue } = remoteOf(stage);
    const issue = await stage.add({ title: 'Hard to read', state: stage.states.handoff });
    const only = { issue_identifier: issue.identifier };
    // Others are read by the same route meanwhile: the answer must hit this one.
    const isThisOne = new RegExp(`\\b${issue.id}\\b`);
    const failNext = () =>
      proxy.answerNext((request) => isIssue(request) && isThisOne.test(`${request.path} ${request.body}`), truncatedJson());
    const failed = failNext();
    await stage.move(issue.id, stage.states.doing);
    await failed;
    // It may have been read before its run: for a free slot, or to see where it is.
    const scheduled = daemon.record('retry scheduled', only);
    for (let isScheduled = false; !isScheduled;) {
      isScheduled = await Promise.race([scheduled.then(() => true), failNext().then(() => false)]);
    }
    const record = await scheduled;
    expect(record).toMatchObject({ trigger: 'error', attempt: '1' });
    expect(record['error']).toContain('tracker: tracker_payload_error: ');
    await handedOff(issue);
    expect(told('agent session started', only)).toHaveLength(1);
  });

  it('counts every operation', async () => {
    const metrics = await (await daemon.get('/metrics')).text();
    const counted = [
      'fetch_candidates',
      'fetch_issue',
      'fetch_by_states',
      'fetch_states_by_ids',
      'transition',
      'comment',
      'fetch_comments',
    ];
    for (const operation of counted) expect(countOf(metrics, operation, 'success'), operation).toBeGreaterThan(0);
    expect(countOf(metrics, 'fetch_candidates', 'error')).toBeGreaterThan(0);
    if (stage.remote) expect(countOf(metrics, 'transition', 'error')).toBeGreaterThan(0);
  });

  it('ends cleanly and has told nobody the credential', async () => {
    const { code, stderr } = await daemon.stop();
    expect(code).toBe(0);
    for (const secret of Object.values(stage.env)) expect(stderr).not.toContain(secret);
    expect(told('a listener failed')).toEqual([]);
    expect(told('an effect failed unexpectedly')).toEqual([]);
  });
});

/** What a token that may only read gets. */
function forbidden(): Reply {
  return json({ message: 'you may not do this' }, 403);
}

function countOf(metrics: string, operation: string, result: string): number {
  const line = metrics
    .split('\n')
    .filter((one) => one.startsWith('svc_tracker_requests_total{'))
    .find((one) => one.includes(`operation="${operation}"`) && one.includes(`result="${result}"`));
  return Number(line?.split(' ').at(-1) ?? 0);
}
