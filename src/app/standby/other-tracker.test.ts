import { expect, it } from 'vitest';
import { settingsWith } from '../../../test/support/settings.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Leader, Postgres } from '../../store/postgres/index.ts';
import { tellOtherTracker } from './other-tracker.ts';
import type { GoodWorkflow } from '../workflow.ts';

/** A database in which each tracker has one name. */
const db: Pick<Postgres, 'read'> = {
  async read(work) {
    let step = work.next([]);
    while (!step.done) step = work.next([]);
    return step.value;
  },
};

const tracker = settingsWith({}).tracker.identity;
const workflow = () => ({ path: '/b/WORKFLOW.md', settings: settingsWith({}) }) as unknown as GoodWorkflow;

function leaderOf(watched: string | null, parts: Partial<Leader> = {}): Leader {
  const place = { id: 'l', host: 'build-7', machine: 'm', pid: 7, processStart: '', workflowPath: '/a/WORKFLOW.md', url: null };
  const turn = { version: 'test', since: 0, epoch: 1, silentMs: 0, absentMs: 0, left: false };
  return { ...place, ...turn, tracker: watched, ...parts };
}

async function setUp() {
  const told: unknown[] = [];
  const logger: Logger = { debug() {}, info() {}, error() {}, warn: (_msg, facts) => void told.push(facts?.['leader_tracker']) };
  const warn = await tellOtherTracker({ db, logger, workflow });
  const look = async (times: number, leader: Leader): Promise<void> => {
    for (let done = 0; done < times; done += 1) await warn(leader);
  };
  return { told, look };
}

it('warns once of a leader that watches another tracker, and again of another one', async () => {
  const { told, look } = await setUp();
  await look(20, leaderOf('file /a'));
  expect(told).toEqual(['file /a']);
  // The next leader of the same file has not said yet what it watches.
  await look(20, leaderOf(null));
  await look(20, leaderOf('file /a'));
  expect(told).toEqual(['file /a']);
  await look(20, leaderOf('file /c'));
  expect(told).toEqual(['file /a', 'file /c']);
  await look(1, leaderOf(tracker));
  await look(20, leaderOf('file /c'));
  expect(told).toEqual(['file /a', 'file /c', 'file /c']);
});

it('warns of no leader of the same tracker, wherever its file is, and of none that left or is about to follow', async () => {
  const { told, look } = await setUp();
  await look(20, leaderOf(tracker, { host: 'build-8', workflowPath: '/elsewhere/WORKFLOW.md' }));
  await look(20, leaderOf('file /a', { left: true }));
  await look(3, leaderOf('file /a'));
  await look(20, leaderOf(tracker));
  expect(told).toEqual([]);
});
