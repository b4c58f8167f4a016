import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlayground, eventually, parseRecords } from '../../support/daemon.ts';
import type { LogRecord, Playground, RunningDaemon } from '../../support/daemon.ts';
import { empty, hugeBody, json, reset, resetMidBody, startServer, text, truncatedJson } from '../../support/http-server.ts';
import type { Reply, TestServer } from '../../support/http-server.ts';
import { buildStage, REMOTE_KINDS, remoteOf, stageWorkflow, type Stage, type StageNames, type StageRemote } from './stage.ts';

const FAILED = 'poll failed, nothing dispatched until the next one';
const UNREADABLE = 'states could not be read, running issues keep running';
const LEFT_OUT = 'tracker sent entries that cannot be read, they are left out';
const TEN_MB = 10 * 1024 * 1024;

type BadAnswer = readonly [name: string, kind: string, reply: (elsewhere: string) => Reply];

const HTML = { 'content-type': 'text/html' };
const LOGIN_PAGE = '<!DOCTYPE html><html><body>Please log in</body></html>';

/** What a remote, or whatever stands before it, may answer instead: the documented kind for each. */
const BAD_ANSWERS: readonly BadAnswer[] = [
  ['an empty body', 'tracker_payload_error', () => text('')],
  ['no content', 'tracker_payload_error', () => empty(204)],
  ['truncated JSON', 'tracker_payload_error', () => truncatedJson()],
  ['bytes that are no text', 'tracker_payload_error', () => text(Buffer.from([0xff, 0xfe, 0x00, 0xd8]))],
  ['the login page of a proxy', 'tracker_payload_error', () => text(LOGIN_PAGE, 200, HTML)],
  ['a number', 'tracker_payload_error', () => json(7)],
  ['null', 'tracker_payload_error', () => json(null)],
  ['another shape', 'tracker_payload_error', () => json({ data: { issues: 'none' }, issues: { total: 0 }, message: 'hello' })],
  ['10 MB of nonsense', 'tracker_payload_error', () => hugeBody(TEN_MB)],
  ['400', 'tracker_payload_error', () => json({ message: 'no' }, 400)],
  ['401', 'tracker_auth_error', () => json({ message: 'no' }, 401)],
  ['403', 'tracker_auth_error', () => json({ message: 'no' }, 403)],
  ['10 MB of an error', 'tracker_transport_error', () => hugeBody(TEN_MB, 500)],
  ['502 with the page of a proxy', 'tracker_transport_error', () => text('<html>Bad Gateway</html>', 502, HTML)],
  ['a connection reset', 'tracker_transport_error', () => reset()],
  ['a connection reset in the middle', 'tracker_transport_error', () => resetMidBody()],
  ['a redirect to another host', 'tracker_api_error', (elsewhere) => empty(302, { location: `${elsewhere}/x` })],
  ['a lasting redirect to another host', 'tracker_api_error', (elsewhere) => empty(308, { location: `${elsewhere}/x` })],
  ['418', 'tracker_api_error', () => json({ message: 'no' }, 418)],
  ['429', 'tracker_api_error', () => text('slow down', 429)],
];

// One daemon for each kind, at work on one long issue. Whatever is answered, that issue goes on and the next poll is good.
describe.each(REMOTE_KINDS)('%s, given', (kind) => {
  let ground: Playground;
  let stage: Stage;
  let remote: StageRemote;
  let elsewhere: TestServer;
  let daemon: RunningDaemon;
  let long: StageNames;

  beforeAll(async () => {
    ground = await createPlayground();
    elsewhere = await startServer();
    stage = await buildStage(kind, ground);
    remote = remoteOf(stage);
    long = await stage.add({ title: 'Takes for ever', state: stage.states.doing });
    await ground.write('WORKFLOW.md', stageWorkflow(stage, { mock: 'turn_delay_ms: 600000', polling: 'interval_ms: 20' }));
    daemon = await ground.start(['--port', '0'], { env: stage.env });
    await daemon.record('turn started');
  });
  afterAll(async () => {
    const { stderr } = await daemon.stop();
    for (const secret of Object.values(stage.env)) expect(stderr).not.toContain(secret);
    await ground.cleanup();
    await stage.close();
    // Throws when a request, and the credential with it, ever came there.
    await elsewhere.close();
  });

  /** What was logged since a place in the log, ticks of quiet polls left out. */
  const since = (from: number): readonly LogRecord[] => parseRecords(daemon.stderr().slice(from));
  const here = (): number => daemon.stderr().length;

  /** Waits for a record, then for a poll that began after it and was good. */
  async function goodPollAfter(from: number, msg: string): Promise<readonly LogRecord[]> {
    const seen = await eventually(
      () => since(from),
      (records) => isFollowed(records, msg),
      `a good poll after "${msg}"`,
    );
    expect(await daemon.json(`/api/v1/${long.identifier}`)).toMatchObject({ status: 'running', running: { turn_count: 1 } });
    return seen;
  }

  it.each(BAD_ANSWERS)('%s: %s, told once, and nothing is lost', async (_name, error, reply) => {
    const from = here();
    await Promise.all([
      remote.proxy.answerNext(remote.isCandidates, reply(elsewhere.url)),
      remote.proxy.answerNext(remote.isLookup, reply(elsewhere.url)),
    ]);
    await goodPollAfter(from, UNREADABLE);
    const told = troubles(await goodPollAfter(from, FAILED));
    expect(told.map(({ level, msg }) => `${level} ${msg}`).sort()).toEqual([`WARN ${FAILED}`, `WARN ${UNREADABLE}`]);
    for (const { error: message } of told) {
      expect(message).toMatch(new RegExp(`^tracker: ${error}: (GET|POST) /\\S*: .`));
      expect(message?.length).toBeLessThan(1000);
    }
  });

  it('429 with Retry-After: tracker_api_error that names it, and the next poll is good when that time is over', async () => {
    const from = here();
    await remote.proxy.answerNext(remote.isCandidates, text('slow down', 429, { 'retry-after': '1' }));
    const told = troubles(await goodPollAfter(from, FAILED));
    expect(told[0]).toMatchObject({ msg: FAILED });
    expect(told[0]?.['error']).toMatch(/^tracker: tracker_api_error: (GET|POST) \/\S*: status 429.*; retry after 1 s$/);
    // Only this kind holds its tongue meanwhile; every poll says so.
    if (kind === 'selfhosted') for (const { error } of told.slice(1)) expect(error).toContain('not sent: ');
    else expect(told).toHaveLength(1);
  });

  it('half of the genuine answer under its own tag: tracker_payload_error, and not remembered', async () => {
    const from = here();
    const halved = (body: string): string => body.slice(0, body.length / 2);
    await remote.proxy.spoilNext(remote.isCandidates, halved, { keepsTag: true });
    const [told, ...more] = troubles(await goodPollAfter(from, FAILED));
    expect(told?.['error']).toContain('tracker: tracker_payload_error: ');
    expect(more).toEqual([]);
  });

  it('a good list of 10 MB: taken', async () => {
    const padded = remote.proxy.spoilNext(remote.isCandidates, (body) =>
      changed(body, (entries) => entries.forEach((entry) => Object.assign(entry, { padding: 'x'.repeat(TEN_MB) }))),
    );
    const from = here();
    await padded;
    const seen = await eventually(
      () => since(from),
      (records) => records.filter(isTick).length >= 2,
      'two polls',
    );
    expect(troubles(seen)).toEqual([]);
    expect(seen.find(isTick)).toMatchObject({ candidates: '1' });
  });

  it('entries that are none beside a good one: left out, told once', async () => {
    const from = here();
    for (const _ of [1, 2]) {
      await remote.proxy.spoilNext(remote.isCandidates, (body) =>
        changed(body, (entries) => entries.unshift(...([null, 7, 'text', [], {}] as unknown as typeof entries))),
      );
    }
    const seen = await goodPollAfter(from, LEFT_OUT);
    expect(troubles(seen).map(({ msg, skipped }) => [msg, skipped])).toEqual([[LEFT_OUT, '5']]);
    for (const tick of seen.filter(isTick)) expect(tick).toMatchObject({ candidates: '1' });
  });

  it('an entry that is null wherever it may be: taken', async () => {
    const from = here();
    await remote.proxy.spoilNext(remote.isCandidates, (body) =>
      changed(body, (entries) => {
        const [first = {}] = entries;
        for (const key of Object.keys(first)) if (!remote.essential.includes(key)) first[key] = null;
      }),
    );
    const seen = await eventually(
      () => since(from),
      (records) => records.filter(isTick).length >= 2,
      'two polls',
    );
    expect(troubles(seen)).toEqual([]);
    for (const tick of seen.filter(isTick)) expect(tick).toMatchObject({ candidates: '1' });
  });

  function changed(body: string, change: (entries: Record<string, unknown>[]) => void): string {
    const answer = JSON.parse(body) as unknown;
    change(remote.entriesOf(answer));
    return JSON.stringify(answer);
  }
});

const isTick = ({ msg }: LogRecord): boolean => msg === 'tick completed';

/** Lookups fail beside candidates that do not, so that the first tick may be of the same poll. */
function isFollowed(records: readonly LogRecord[], msg: string): boolean {
  const at = records.findIndex((record) => record['msg'] === msg);
  return at !== -1 && records.slice(at).filter(isTick).length >= 2;
}

function troubles(records: readonly LogRecord[]): readonly LogRecord[] {
  return records.filter(({ level }) => level === 'WARN' || level === 'ERROR');
}
