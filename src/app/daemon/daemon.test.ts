import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSteadyClock } from '../../lib/steady-clock.ts';
import type { OperatorRequest } from '../../domain/model/operator.ts';
import type { Logger } from '../../ports/runtime.ts';
import { openStore } from '../../store/sqlite/open.ts';
import { anOwner } from '../../../test/support/store/database.ts';
import { startDaemon, type RunningDaemon } from './daemon.ts';
import { createKnownSecrets } from '../secrets.ts';
import { readWorkflowFile, requireGood } from '../workflow.ts';

const PATIENCE = { timeout: 30_000, interval: 20 };

let folder = '';
let daemons: RunningDaemon[] = [];
let records: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'foray-daemon-'));
  records = [];
});
afterEach(async () => {
  for (const daemon of daemons) daemon.kill();
  await Promise.allSettled(daemons.map(({ done }) => done));
  daemons = [];
  await rm(folder, { recursive: true, force: true });
});

const record = (message: string, facts: Readonly<Record<string, unknown>> = {}): void =>
  void records.push(message === 'workflow warning' ? `${message}: ${String(facts['message'])}` : message);
const logger: Logger = { debug() {}, info: record, warn: record, error: record };

interface Written {
  readonly mock?: string;
  readonly active?: string;
  readonly extra?: string;
  readonly body?: string;
}

/** Put in place at once, as editors do. */
async function write({
  mock = '',
  active = 'todo',
  extra = '',
  body = 'Work on {{ .issue.identifier }}',
}: Written = {}): Promise<string> {
  const file = path.join(folder, 'WORKFLOW.md');
  const text = [
    '---',
    `tracker: {kind: file, active_states: [${active}], terminal_states: [done], handoff_state: review}`,
    'file: {path: issues.json}',
    'workspace: {root: work}',
    'polling: {interval_ms: 100}',
    'agent: {kind: mock, stop_grace_ms: 1000}',
    `mock: {${mock}}`,
    extra,
    '---',
    body,
  ];
  await writeFile(`${file}.new`, text.join('\n'));
  await rename(`${file}.new`, file);
  return file;
}

const issuesFile = (): string => path.join(folder, 'issues.json');

async function putIssues(...states: readonly string[]): Promise<void> {
  const issues = states.map((state, index) => ({ id: String(index + 1), identifier: `T-${index + 1}`, title: 'One', state }));
  await writeFile(issuesFile(), JSON.stringify(issues));
}

async function states(): Promise<readonly string[]> {
  const issues = JSON.parse(await readFile(issuesFile(), 'utf8')) as readonly { readonly state: string }[];
  return issues.map(({ state }) => state);
}

async function start(file: string, port = 0): Promise<RunningDaemon> {
  const workflow = requireGood(await readWorkflowFile(file, {}));
  const clock = createSteadyClock();
  const daemon = await startDaemon({
    workflow,
    env: { PATH: process.env['PATH'] },
    version: '0.0.0',
    port,
    clock,
    logger,
    secrets: createKnownSecrets(),
    interrupted: new AbortController().signal,
    term: null,
  });
  daemons.push(daemon);
  return daemon;
}

describe('the daemon, put together', () => {
  it('takes an issue to its handoff, and ends when it is told to', async () => {
    await putIssues('todo');
    const daemon = await start(await write());
    await expect.poll(states, PATIENCE).toEqual(['review']);
    daemon.stop();
    await daemon.done;
    expect(records).toContain('draining');
  });

  it('closes what it opened when the start fails half way', async () => {
    await putIssues('todo');
    const file = await write();
    const stranger = createServer().listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const { port } = stranger.address() as AddressInfo;
    await expect(start(file, port)).rejects.toThrow(String(port));
    stranger.close();
    await start(file);
    await expect.poll(states, PATIENCE).toEqual(['review']);
  });

  it('applies an edit while it runs, and keeps the last good one when the next is wrong', async () => {
    await putIssues('todo', 'later');
    const daemon = await start(await write());
    await expect.poll(states, PATIENCE).toEqual(['review', 'later']);
    await write({ extra: 'agent: {max_turns: none}' });
    await expect
      .poll(() => at(daemon, '/api/v2/workflow'), PATIENCE)
      .toMatchObject({
        rejected: { reason: expect.any(String) },
        problems: [{ severity: 'error', check: 'workflow.yaml', line: 8, column: 1 }],
      });
    await write({ active: 'todo, later' });
    await expect.poll(states, PATIENCE).toEqual(['review', 'review']);
    expect(await at(daemon, '/api/v2/workflow')).toMatchObject({ rejected: null, problems: [] });
  });

  it('tells the warnings of an edit, which wakes what waits at the cap for just that', async () => {
    await putIssues('todo');
    const body = '{{ index .issue.title 999 }}';
    await start(await write({ body }));
    await expect.poll(() => records, PATIENCE).toContain('retry scheduled');
    await write({ body, extra: '# a comment changes nothing' });
    await expect.poll(() => records, PATIENCE).toContain('workflow reloaded');
    await write({ extra: 'pollling: {}' });
    await expect.poll(states, PATIENCE).toEqual(['review']);
    expect(records.filter((one) => one === 'retry scheduled')).toHaveLength(1);
    expect(records.filter((one) => one.startsWith('workflow warning'))).toEqual([expect.stringContaining('pollling')]);
  });

  it('ends a session that runs when it stops, and takes the issue up again after the next start', async () => {
    await putIssues('todo');
    const file = await write({ mock: 'turn_delay_ms: 60000' });
    const first = await start(file);
    await expect.poll(() => existsSync(path.join(folder, 'work', 'T-1')), PATIENCE).toBe(true);
    first.stop();
    await first.done;
    expect(await states()).toEqual(['todo']);
    await start(await write());
    await expect.poll(states, PATIENCE).toEqual(['review']);
  });
});

describe('what people asked for while no service ran', () => {
  it('a pause holds the first poll', async () => {
    await putIssues('todo');
    const file = await write();
    await leave({ kind: 'pause', reason: 'release day' });
    await start(file);
    await expect.poll(() => records, PATIENCE).toContain('tick completed');
    expect(records.indexOf('operator request taken')).toBeLessThan(records.indexOf('tick completed'));
    await expect.poll(() => records.filter((one) => one === 'tick completed').length, PATIENCE).toBeGreaterThan(2);
    expect(records).not.toContain('agent session started');
    expect(await states()).toEqual(['todo']);
  });

  it('a stop parks the issue whose session was cut short, before it begins again', async () => {
    await putIssues('todo');
    const file = await write({ mock: 'turn_delay_ms: 60000' });
    const first = await start(file);
    await expect.poll(() => records, PATIENCE).toContain('agent session started');
    first.kill();
    await first.done;
    records = [];
    await leave({ kind: 'stop', identifier: 'T-1' });
    const second = await start(file);
    await expect.poll(() => records, PATIENCE).toContain('tick completed');
    expect(await at(second, '/api/v2/parked')).toMatchObject({
      parked: [{ issue_identifier: 'T-1', reason: 'stopped_by_operator' }],
    });
    expect(records).not.toContain('agent session started');
  });
});

/** Puts a request into the database, as a command does that asks a service which dies before it looks. */
async function leave(request: OperatorRequest): Promise<void> {
  const store = await openStore({ path: path.join(folder, '.foray.db'), owner: anOwner(), clock: createSteadyClock() });
  await store.addRequest(request, 'somebody', null);
  await store.close();
}

async function at({ url }: RunningDaemon, place: string): Promise<unknown> {
  return (await fetch(new URL(place, url ?? ''))).json();
}
