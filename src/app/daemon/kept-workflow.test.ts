import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { keepWorkflow } from './kept-workflow.ts';
import { readWorkflowFile, requireGood } from '../workflow.ts';

async function setUp() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'foray-kept-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'WORKFLOW.md');
  const read = async (state: string, extra = '') => {
    await writeFile(file, `---\ntracker: {kind: file, active_states: [${state}]}\nfile: {path: i.json}\n${extra}\n---\nWork`);
    return readWorkflowFile(file, { SECRET_ONE: 'token-number-one', SECRET_TWO: 'token-number-two' });
  };
  const kept = keepWorkflow(requireGood(await read('one', 'agent: {kind: mock}\nserver: {token: $SECRET_ONE}\ndb_path: a.db')));
  const toTry = () => kept.toTry().flatMap(({ settings }) => settings.tracker.activeStates);
  return { kept, read, toTry, states: () => kept.current().settings.tracker.activeStates };
}

it('is the last good content of the file, whatever is wrong with it by now', async () => {
  const { kept, read, states, toTry } = await setUp();
  expect(toTry()).toEqual(['one']);
  kept.take(await read('two', 'agent: {kind: mock}'));
  kept.take(await read('three', 'agent: {kind: ['));
  expect(states()).toEqual(['two']);
});

it('keeps the database of the start and what is hidden from agents, and lets in whom the newest one does', async () => {
  const { kept, read } = await setUp();
  kept.take(await read('two', 'agent: {kind: mock}\nserver: {token: $SECRET_TWO}\ndb_path: b.db'));
  expect(kept.current().settings.dbPath).toMatch(/a\.db$/);
  expect(kept.current().secretVariables).toEqual(['SECRET_ONE', 'SECRET_TWO']);
  expect(kept.toTry().map(({ settings }) => settings.server.token)).toEqual(['token-number-two', 'token-number-two']);
});

it('tries edits of the tracker newest first, and nothing before what was proved or has the tracker of the start', async () => {
  const { kept, read, toTry } = await setUp();
  const good = 'agent: {kind: mock}';
  kept.take(await read('two', good));
  kept.take(await read('three', good));
  kept.take(await read('three', `${good}\npolling: {interval_ms: 1234}`));
  expect(toTry()).toEqual(['three', 'two', 'one']);
  kept.take(await read('two', good));
  expect(toTry()).toEqual(['two', 'three', 'one']);
  kept.take(await read('one', good));
  expect(toTry()).toEqual(['one']);
  kept.take(await read('two', good));
  kept.proved(kept.current());
  expect(toTry()).toEqual(['two']);
});
