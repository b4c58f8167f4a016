import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../support/command.ts';
import { CLI, createPlayground, eventually, fileWorkflow, type Playground, type RunningDaemon } from '../support/daemon.ts';

let ground: Playground;
let daemon: RunningDaemon;
let file: string;
const here = (...argv: readonly string[]) => runHere(...argv, file);
const asJson = async <T>(...argv: readonly string[]): Promise<T> =>
  JSON.parse((await here(...argv, '--format', 'json')).stdout) as T;

const WORKFLOW = fileWorkflow({
  // Nobody who asks needs the server.
  mock: 'outcomes_by_issue:\n  A-1: [hang]\n  A-2: [failed, failed, failed, hang]',
  agent: 'kind: mock\nmax_turns: 1\nmax_retry_backoff_ms: 3600000\nmax_concurrent_agents: 3',
});

beforeAll(async () => {
  ground = await createPlayground();
  file = await ground.write('WORKFLOW.md', WORKFLOW);
  await ground.writeIssues([
    { id: '1', identifier: 'A-1', title: 'Hangs', state: 'todo' },
    { id: '2', identifier: 'A-2', title: 'Fails', state: 'todo' },
    { id: '3', identifier: 'A-3', title: 'Goes well', state: 'todo' },
    { id: '4', identifier: 'A-4', title: 'Blocked', state: 'todo', blocked_by: [{ id: '1', identifier: 'A-1' }] },
    { id: '5', identifier: 'A-5', title: 'Over', state: 'done' },
    { id: '6', identifier: 'A-6', title: 'Elsewhere', state: 'icebox' },
  ]);
});
afterAll(() => ground.cleanup());

interface Status {
  readonly service: { readonly running: boolean; readonly pid?: number };
  readonly paused: { readonly reason: string } | null;
  readonly running: readonly { readonly issue_identifier: string }[];
  readonly retrying: readonly { readonly issue_identifier: string; readonly attempt: number }[];
  readonly parked: readonly { readonly issue_identifier: string; readonly reason: string }[];
}

const namesIn = (list: readonly { readonly issue_identifier: string }[]) => list.map((entry) => entry.issue_identifier);

describe('before the first start', () => {
  it('pause is stored, and everything says so', async () => {
    expect(await here('pause', '--reason', 'release day')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('resume') as string,
    });
    expect((await asJson<Status>('status')).paused).toMatchObject({ reason: 'release day' });
    expect((await here('doctor')).stdout).toMatch(/^warning +paused: nothing is dispatched: .*release day/m);
    const explained = await here('explain', 'A-1', '--format', 'json');
    expect(explained.code).toBe(1);
    expect(JSON.parse(explained.stdout)).toMatchObject([{ identifier: 'A-1', would_dispatch: false, reason: 'paused' }]);
  });

  it('there is nothing to stop, to retry or to read', async () => {
    for (const command of ['stop', 'retry', 'unpark', 'logs']) expect((await here(command, 'A-1')).code, command).toBe(1);
    expect(await here('stats')).toMatchObject({ code: 0, stdout: expect.stringContaining('no runs') as string });
  });
});

describe('beside a running service without HTTP', () => {
  beforeAll(async () => {
    // By then it has the database: a command before that would act on it by itself.
    daemon = await ground.start([], { until: 'tick completed' });
  });

  it('nothing is dispatched while paused; resume lets go, once', async () => {
    expect((await asJson<Status>('status')).running).toEqual([]);
    expect((await here('resume')).code).toBe(0);
    expect((await here('resume')).code).toBe(1);
  });

  it('status tells what runs, waits and is parked, and by whom it was told', async () => {
    const status = await eventually(
      () => asJson<Status>('status'),
      ({ running, retrying }) => running.length === 1 && retrying.length === 1,
    );
    expect(status.service).toMatchObject({ running: true, pid: daemon.pid });
    expect([namesIn(status.running), namesIn(status.retrying)]).toEqual([['A-1'], ['A-2']]);
    const { stdout } = await here('status');
    expect(stdout).toMatch(/^service: running \(pid \d+/);
    expect(stdout).not.toContain('\u001B');
  });

  it('explain knows every place an issue can be in, by its exit code too', async () => {
    await daemon.record('handoff transition succeeded, releasing claim');
    const told: unknown[] = [];
    for (const identifier of ['A-1', 'A-2', 'A-3', 'A-4', 'A-5', 'A-6', 'a-6', 'NOPE-1']) {
      const { code, stdout } = await here('explain', identifier, '--format', 'json');
      const [entry] = JSON.parse(stdout) as Record<string, unknown>[];
      expect(Object.keys(entry ?? {})).toEqual(FIELDS);
      told.push([entry?.['identifier'], entry?.['reason'], code]);
    }
    expect(told).toEqual([
      ['A-1', 'running', 0],
      ['A-2', 'retrying', 1],
      ['A-3', 'handed_off', 0],
      ['A-4', 'blocked_by', 1],
      ['A-5', 'terminal', 0],
      ['A-6', 'not_active', 1],
      ['A-6', 'not_active', 1],
      ['NOPE-1', 'unknown', 1],
    ]);
    expect((await here('explain', 'A-2')).stdout).toContain('scripted outcome failed');
    const all = await here('explain');
    expect(all.code).toBe(0);
    expect(all.stderr).toMatch(/^service: running/);
  });

  it('logs tells the events of an issue; following goes on until interrupted', async () => {
    expect((await here('logs', 'A-2')).stdout).toContain('failed');
    const { runs } = await asJson<{ runs: { run_id: string; events: unknown[] }[] }>('logs', 'A-3');
    expect(runs).toHaveLength(1);
    expect((await here('logs', 'A-6')).code).toBe(1);
    expect((await here('logs', 'A-6', '--follow')).code).toBe(1);
    expect(await interruptedAfter(['logs', 'A-3', '--follow', file], /succeeded/)).toBe(0);
  });

  it('status --watch shows it again until interrupted', async () => {
    expect(await interruptedAfter(['status', '--watch', file], /Running \(1\)[^]*Running \(1\)/)).toBe(0);
  });

  it('stats are the numbers of the runs', async () => {
    const stats = await asJson<{ total: Record<string, number>; groups: Record<string, unknown>[] }>('stats', '--by', 'issue');
    const { total, groups } = stats;
    expect(total).toMatchObject({ succeeded: 1, total_tokens: expect.any(Number) as number });
    // On a busy machine the one that fails may have had its next attempt by now.
    expect(total['failed']).toBeGreaterThanOrEqual(1);
    expect(total['runs']).toBe(groups.reduce((sum, { runs }) => sum + Number(runs), 0));
    expect(stats.groups.map(({ key }) => key).toSorted()).toEqual(['A-1', 'A-2', 'A-3']);
    for (const by of ['day', 'agent', 'state']) expect((await here('stats', '--since', '1h', '--by', by)).code, by).toBe(0);
  });

  it('plan tells what an edit would start, stop and change, and writes nothing', async () => {
    const next = WORKFLOW.replace('active_states: [todo, in progress]', 'active_states: [icebox]').replace(
      'max_turns: 1',
      'max_turns: 7',
    );
    const newFile = await ground.write('NEW.md', `${next}\nThink twice.\n`);
    const plan = JSON.parse((await runHere('plan', newFile, file, '--format', 'json')).stdout) as Record<string, unknown[]>;
    expect(Object.keys(plan)).toEqual(['start', 'stop', 'changes']);
    expect(plan['start']).toMatchObject([{ identifier: 'A-6' }]);
    // A session keeps the settings that it started with.
    expect(plan['stop']).toMatchObject([
      { identifier: 'A-1', reason: expect.stringMatching(/^state ".*" would not be active: once its session is over$/) },
      { identifier: 'A-2', state: 'todo', reason: 'state "todo" would not be active' },
    ]);
    expect(plan['changes']).toContainEqual({ key: 'agent.max_turns', from: 1, to: 7 });
    expect(plan['changes']?.at(-1)).toMatchObject({
      key: 'prompt',
      to: expect.stringMatching(/Think twice\.$/),
      kept_by: ['A-1'],
    });
    // What follows from where a file stands is no edit: the new one is to stand in the place of the old.
    mkdirSync(ground.path('drafts'));
    const copy = await ground.write('drafts/COPY.md', WORKFLOW);
    const same = JSON.parse((await runHere('plan', copy, file, '--format', 'json')).stdout) as Record<string, unknown[]>;
    expect(same['changes']).toEqual([]);
    // Who runs keeps the prompt that it started with.
    const worded = await ground.write('drafts/WORDED.md', `${WORKFLOW.trimEnd()}\nThink twice.\n`);
    const told = (await runHere('plan', worded, file)).stdout;
    expect(told).toMatch(/^prompt +line \d+: .* "Think twice\."$/m);
    expect(told).toContain('sessions that start after the edit; what runs goes on with the old one: A-1\n');
    expect((await ground.readIssues()).find(({ id }) => id === '6')).toMatchObject({ state: 'icebox' });
    expect((await asJson<Status>('status')).running).toHaveLength(1);
    // Where another tracker is to be watched, the sessions of this one go on as well.
    await ground.write('other.json', JSON.stringify([{ id: '9', identifier: 'B-9', title: 'Of another board', state: 'todo' }]));
    const moved = await ground.write('drafts/MOVED.md', `${WORKFLOW.replace('issues.json', 'other.json')}\nThink twice.\n`);
    const elsewhere = JSON.parse((await runHere('plan', moved, file, '--format', 'json')).stdout) as Record<string, unknown[]>;
    expect([elsewhere['start'], elsewhere['stop']]).toMatchObject([[{ identifier: 'B-9' }], []]);
    expect(elsewhere['changes']?.at(-1)).toMatchObject({ key: 'prompt', kept_by: ['A-1'] });
  });

  it('plan asks the database in force, wherever the new file would keep its own', async () => {
    const shared = await ground.write(
      'SHARED.md',
      WORKFLOW.replace('---\n', '---\nstore: { url: postgres://127.0.0.1:1/foray }\n'),
    );
    const { code, stdout, stderr } = await runHere('plan', shared, file);
    expect([code, stderr]).toEqual([0, expect.stringMatching(`^service: running \\(pid ${daemon.pid} `)]);
    expect(stdout).toMatch(/^store_url +null +/m);
  });

  it('stop ends a session and parks; retry and unpark release, each where it makes sense', async () => {
    expect(await here('stop', 'A-1')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('the running service') as string,
    });
    const parked = await eventually(
      () => asJson<Status>('status'),
      (status) => status.parked.length === 1,
    );
    expect(parked.parked).toMatchObject([{ issue_identifier: 'A-1', reason: 'stopped_by_operator' }]);
    expect((await here('stop', 'A-1')).code).toBe(1);
    expect((await here('retry', 'A-2')).code).toBe(0);
    await eventually(
      () => asJson<Status>('status'),
      ({ retrying, running }) =>
        [...retrying, ...running].some((entry) => namesIn([entry])[0] === 'A-2' && 'attempt' in entry && entry.attempt !== 1),
    );
    expect((await here('unpark', 'A-3')).code).toBe(1);
    expect((await here('unpark', 'NOPE-1')).stderr).toContain('NOPE-1');
  });

  it('doctor finds nothing wrong, and says so by its exit code', async () => {
    const { code, stdout } = await here('doctor', '--format', 'json');
    expect(code).toBe(0);
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: readonly { check: string; status: string }[] };
    expect(ok).toBe(true);
    // The service may have been started with --port.
    expect(findings.find(({ check }) => check === 'server.port')).toMatchObject({ status: 'ok' });
  });
});

describe('between two polls', () => {
  let between: Playground;
  beforeAll(async () => {
    between = await createPlayground();
  });
  afterAll(() => between.cleanup());

  it('what has moved in the tracker is told as the next poll will find it', async () => {
    const rarely = fileWorkflow({
      polling: 'interval_ms: 3600000',
      mock: 'outcomes_by_issue:\n  A-1: [hang]\n  A-2: [failed]',
      agent: 'kind: mock\nmax_turns: 1\nmax_concurrent_agents: 3',
    });
    const own = await between.write('WORKFLOW.md', rarely);
    const issues = ['1', '2'].map((id) => ({ id, identifier: `A-${id}`, title: 'x', state: 'todo' }));
    await between.writeIssues(issues);
    const service = await between.start();
    await service.record('turn started', { issue_identifier: 'A-1' });
    await service.record('retry scheduled', { issue_identifier: 'A-2' });
    const stops = async () =>
      (JSON.parse((await runHere('plan', own, own, '--format', 'json')).stdout) as { stop: unknown }).stop;
    expect(await stops()).toEqual([]);
    await between.writeIssues(issues.map((issue) => ({ ...issue, state: 'done' })));
    const moved = ['A-1', 'A-2'].map((identifier) => ({ identifier, state: 'done', reason: 'state "done" is a terminal state' }));
    expect(await stops()).toEqual(moved);
    const told: unknown[] = [];
    for (const identifier of ['A-1', 'A-2']) {
      const { code, stdout } = await runHere('explain', identifier, own, '--format', 'json');
      const [entry] = JSON.parse(stdout) as Record<string, unknown>[];
      told.push([entry?.['identifier'], entry?.['state'], entry?.['reason'], code]);
    }
    expect(told).toEqual([
      ['A-1', 'todo', 'running', 0],
      ['A-2', 'done', 'terminal', 0],
    ]);
    await service.stop();
    expect(await stops()).toEqual(moved);
  });
});

describe('after it', () => {
  beforeAll(() => daemon.stop());

  it('the database alone answers, and retry, unpark, pause and resume act on it', async () => {
    expect((await here('status')).stdout).toMatch(/^service: not running/);
    expect(await here('retry', 'A-2')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('no service is running') as string,
    });
    expect(await here('unpark', 'A-1')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('no service is running') as string,
    });
    expect(await here('stop', 'A-1')).toMatchObject({ code: 1 });
    expect(await asJson('pause', '--reason', 'x')).toMatchObject({ kind: 'pause', outcome: 'taken', service_running: false });
    // Its time has come: only the pause keeps it back.
    expect(await asJson('explain', 'A-2')).toMatchObject([
      { reason: 'paused', since: expect.any(String) as string, remedy: 'foray resume' },
    ]);
    const { candidates } = await asJson<{ candidates: readonly Record<string, unknown>[] }>('--dry-run');
    expect(candidates).toContainEqual(expect.objectContaining({ issue_identifier: 'A-2', skip_reason: 'paused' }));
    expect((await here('resume')).code).toBe(0);
  });

  it('what the runs cost is unknown where no price is, and never nothing', async () => {
    // The mock agent has no price unless the file gives it one.
    const { total } = await asJson<{ total: Record<string, number> }>('stats');
    expect(total).toMatchObject({ cost_usd: 0, unpriced_runs: expect.any(Number) as number });
    expect(total['unpriced_runs']).toBeGreaterThanOrEqual(1);
    expect((await here('stats', '--by', 'agent')).stdout).toMatch(/^mock .* unknown$/m);
    expect((await here('status')).stdout).toMatch(/^finished runs: .*, cost unknown$/m);
    expect(await asJson('status')).toMatchObject({ totals: { cost_usd: 0, unpriced_runs: expect.any(Number) as number } });
  });

  it('following the log as JSON tells how each run ended', async () => {
    const end =
      /\{"run_id":"[^"]+","at":"[^"]+Z","type":"run_ended","status":"succeeded","turns":1,"error":null,"text":"1 turns in /;
    expect(await interruptedAfter(['logs', 'A-3', '--follow', '--format', 'json', file], end)).toBe(0);
  });

  it('a dry run ends with a table, or with one object', async () => {
    const table = await here('--dry-run');
    expect(table.stdout).toMatch(/^ISSUE +STATE +DISPATCH +WHY NOT +TITLE\n/);
    expect(await asJson('--dry-run')).toMatchObject({
      candidates_fetched: expect.any(Number) as number,
      candidates: expect.any(Array) as unknown[],
    });
  });
});

const FIELDS = ['identifier', 'state', 'would_dispatch', 'reason', 'detail', 'since', 'until', 'remedy'];

/** Interrupts the built command as soon as it has said this; gives its exit code. */
function interruptedAfter(args: readonly string[], wanted: RegExp): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'] },
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      const isNew = !wanted.test(said);
      said += chunk.toString();
      if (isNew && wanted.test(said)) child.kill('SIGINT');
    });
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}

it('init asks a person at a terminal, with what it found as the proposal', async ({ skip }) => {
  if (!existsSync('/usr/bin/script')) return skip('no script program gives a terminal on this machine');
  await ground.write(
    'board.json',
    JSON.stringify(['todo', 'review', 'done'].map((state, id) => ({ id: `${id}`, identifier: `B-${id}`, title: 'x', state }))),
  );
  const answers = ['file', 'board.json', 'mock', '', '', ''];
  const output = await atTerminal(`${process.execPath} ${CLI} init ASKED.md`, answers);
  expect(output).toContain('states found: todo, review, done');
  expect(await ground.read('ASKED.md')).toMatch(
    /active_states: \[todo\]\n {2}terminal_states: \[done\]\n {2}handoff_state: review/,
  );
});

it('init asks again for what was answered wrong, and keeps the other answers', async ({ skip }) => {
  if (!existsSync('/usr/bin/script')) return skip('no script program gives a terminal on this machine');
  await ground.write('one.json', JSON.stringify([{ id: '1', identifier: 'B-1', title: 'x', state: 'oddly named' }]));
  const answers = ['', 'gihtub', 'file', 'one.json', 'moc', 'mock', '', ',', 'done', 'review'];
  const output = await atTerminal(`${process.execPath} ${CLI} init AGAIN.md`, answers);
  expect(output).toContain('foray: an answer is needed');
  expect(output).toContain('got "gihtub", did you mean "github"?');
  expect(output).toContain('got "moc", did you mean "mock"?');
  expect(await ground.read('AGAIN.md')).toMatch(/active_states: \[.*\]\n {2}terminal_states: \[.*\]\n {2}handoff_state: review/);
});

it('init asks for no variable where one by convention is set', async ({ skip }) => {
  if (!existsSync('/usr/bin/script')) return skip('no script program gives a terminal on this machine');
  const command = `${process.execPath} ${CLI} init --endpoint http://127.0.0.1:9 TOKEN.md`;
  const output = await atTerminal(command, ['gitlab', 'acme/shop', 'mock'], { GITLAB_TOKEN: 'test-token' });
  expect(output).toContain('the tracker was not read; nothing was written');
  expect(output).not.toContain('variable that holds the token');
});

it('init that is interrupted at a question ends as shells expect', async ({ skip }) => {
  if (!existsSync('/usr/bin/script')) return skip('no script program gives a terminal on this machine');
  const output = await atTerminal(`${process.execPath} ${CLI} init GONE.md; echo "code $?"`, ['file', '\u0003']);
  expect(output).toMatch(/\r\nforay: interrupted\r\ncode 130\r\n/);
});

/** Answers each question after it was asked. */
function atTerminal(command: string, answers: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
      cwd: ground.dir,
      env: { PATH: process.env['PATH'], TERM: 'dumb', ...env },
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
    const left = [...answers];
    let said = '';
    let read = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (!said.endsWith(': ') || said.length === read) return;
      read = said.length;
      const answer = left.shift();
      if (answer !== undefined) child.stdin.write(`${answer}\n`);
    });
    child.once('error', reject);
    child.once('close', () => {
      clearTimeout(timer);
      resolve(said);
    });
  });
}
