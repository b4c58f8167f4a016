import { rename, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlayground, eventually, parseRecords } from '../../support/daemon.ts';
import type { LogRecord, Playground, RunningDaemon } from '../../support/daemon.ts';
import { buildStage, stageWorkflow, type Stage, type StageNames } from './stage.ts';

const FAILED = 'poll failed, nothing dispatched until the next one';
const UNREADABLE = 'states could not be read, running issues keep running';
const TEN_MB = 10 * 1024 * 1024;

let ground: Playground;
let stage: Stage;
let daemon: RunningDaemon;
let long: StageNames;
let good: string;

beforeAll(async () => {
  ground = await createPlayground();
  stage = await buildStage('file', ground);
  long = await stage.add({ title: 'Takes for ever', state: stage.states.doing });
  good = await ground.read('issues.json');
  await ground.write('WORKFLOW.md', stageWorkflow(stage, { mock: 'turn_delay_ms: 600000', polling: 'interval_ms: 20' }));
  daemon = await ground.start();
  await daemon.record('turn started');
});
afterAll(() => ground.cleanup());

const PLACE = /line \d+, column \d+/;

/** What may become of the file while somebody edits it, and what the error says. */
const BAD_FILES: readonly (readonly [name: string, kind: string, content: string | Buffer | null, says: RegExp])[] = [
  ['an empty file', 'tracker_payload_error', '', PLACE],
  ['truncated JSON', 'tracker_payload_error', '[{"id": "1", "title": "half', PLACE],
  ['a page in its place', 'tracker_payload_error', '<!DOCTYPE html><html></html>', PLACE],
  ['another shape', 'tracker_payload_error', '{"issues": []}', /./],
  ['null', 'tracker_payload_error', 'null', /./],
  ['bytes that are no text', 'tracker_payload_error', Buffer.from([0xff, 0xfe, 0x00, 0xd8]), /./],
  ['10 MB of nonsense', 'tracker_payload_error', 'x'.repeat(TEN_MB), PLACE],
  ['a missing file', 'tracker_transport_error', null, /no such file or directory; create it or correct file\.path/],
];

describe('file, given', () => {
  const since = (from: number): readonly LogRecord[] => parseRecords(daemon.stderr().slice(from));
  const here = (): number => daemon.stderr().length;

  it.each(BAD_FILES)('%s: %s, and nothing is lost', async (_name, kind, content, says) => {
    const from = here();
    if (content === null) await rm(ground.path('issues.json'));
    else await replace(content);
    await eventually(
      () => since(from),
      (records) => [FAILED, UNREADABLE].every((msg) => has(records, msg)),
      'the trouble',
    );
    await replace(good);
    const seen = await goodPoll(here());
    for (const { msg = '', error } of troubles(since(from))) {
      expect([FAILED, UNREADABLE]).toContain(msg);
      expect(error).toMatch(new RegExp(`^tracker: ${kind}: READ ${ground.path('issues.json')}: `));
      expect(error).toMatch(says);
      expect(error?.length).toBeLessThan(1000);
    }
    expect(seen.findLast(isTick)).toMatchObject({ candidates: '1', running: '1' });
    expect(await daemon.json(`/api/v1/${long.identifier}`)).toMatchObject({ status: 'running', running: { turn_count: 1 } });
  });

  it('records that are none beside a good one: left out, each told once', async () => {
    const from = here();
    const bad = [null, 7, 'text', [], {}];
    await replace(JSON.stringify([...bad, ...(JSON.parse(good) as unknown[])]));
    await eventually(
      () => since(from),
      (records) => troubles(records).length >= bad.length,
      'the warnings',
    );
    const seen = await goodPoll(here());
    expect(troubles(since(from)).map(({ msg }) => msg)).toEqual(bad.map(() => 'issue record ignored'));
    expect(seen.findLast(isTick)).toMatchObject({ candidates: '1' });
    await replace(good);
  });

  it('a record that is null wherever it may be, in a file of 10 MB: taken', async () => {
    const from = here();
    const [record = {}] = JSON.parse(good) as Record<string, unknown>[];
    const essential = ['id', 'identifier', 'title', 'state'];
    const nulls = Object.fromEntries(Object.entries(record).map(([key, value]) => [key, essential.includes(key) ? value : null]));
    await replace(JSON.stringify([{ ...nulls, padding: 'x'.repeat(TEN_MB) }]));
    const seen = await goodPoll(here());
    expect(troubles(since(from))).toEqual([]);
    expect(seen.findLast(isTick)).toMatchObject({ candidates: '1' });
    await replace(good);
  });

  /** Of three ticks the last began after the change, whatever was under way. */
  function goodPoll(from: number): Promise<readonly LogRecord[]> {
    return eventually(
      () => since(from),
      (records) => records.filter(isTick).length >= 3,
      'a good poll',
    );
  }
});

/** At once: a file that is caught half written is tested elsewhere. */
async function replace(content: string | Buffer): Promise<void> {
  await writeFile(ground.path('next.json'), content);
  await rename(ground.path('next.json'), ground.path('issues.json'));
}

const isTick = ({ msg }: LogRecord): boolean => msg === 'tick completed';

function has(records: readonly LogRecord[], msg: string): boolean {
  return records.some((record) => record['msg'] === msg);
}

function troubles(records: readonly LogRecord[]): readonly LogRecord[] {
  return records.filter(({ level }) => level === 'WARN' || level === 'ERROR');
}
