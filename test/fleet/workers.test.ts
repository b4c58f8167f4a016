import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunPlan } from '../../src/domain/model/effect.ts';
import type { RunExit, RunReport } from '../../src/domain/model/event.ts';
import { refOf } from '../../src/domain/model/issue.ts';
import type { AgentSettings } from '../../src/domain/model/settings.ts';
import type { ToolCalls } from '../../src/ports/runner.ts';
import type { Tracker } from '../../src/ports/tracker.ts';
import { createQueueRunner, type QueueRunner } from '../../src/runners/queue/leader/index.ts';
import { openPostgres, type Postgres } from '../../src/store/postgres/connection.ts';
import { tryToLead, type Leadership } from '../../src/store/postgres/leadership.ts';
import { migratePostgres } from '../../src/store/postgres/migrate.ts';
import { openRunQueue } from '../../src/store/postgres/run-queue.ts';
import { openWorkerConnection } from '../../src/store/postgres/worker-connection.ts';
import { CLI, eventually } from '../support/daemon.ts';
import { issueWith } from '../support/issues.ts';
import { isAlive } from '../support/processes.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { settingsWith } from '../support/settings.ts';
import { createLogRecorder } from '../support/workspaces.ts';

/** Runs in the larger test: a thousand and more by the environment. */
const RUNS = Number(process.env['FORAY_FLEET_RUNS'] ?? 24);
const LOST_AFTER_MS = 5_000;

let postgres: TestPostgres;
let url: string;
let folder: string;
let leader: Leading;
const children: ChildProcess[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());
beforeEach(async () => {
  url = await postgres.createDatabase();
  folder = await mkdtemp(path.join(os.tmpdir(), 'foray-workers-'));
  leader = await lead('a');
});
afterEach(async () => {
  await leader.leave();
  for (const child of children.splice(0)) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

interface Leading {
  readonly runner: QueueRunner;
  readonly log: ReturnType<typeof createLogRecorder>;
  readonly db: Postgres;
  readonly asked: string[];
  start(plan: RunPlan): Started;
  leave(): Promise<void>;
}

interface Started {
  readonly reports: RunReport[];
  readonly exit: Promise<RunExit>;
}

async function lead(id: string, { version = '0.1.0', lostAfterMs = LOST_AFTER_MS } = {}): Promise<Leading> {
  const db = await openPostgres(url);
  await migratePostgres(db, 0);
  const me = {
    id,
    host: 'here',
    machine: 'm',
    pid: process.pid,
    processStart: '',
    workflowPath: '/W.md',
    version: '0',
    url: null,
  };
  // The session of the one before may be a moment in ending: daemons try every second.
  const leadership: Leadership = await vi.waitUntil(() => tryToLead(db, me), { timeout: 20_000, interval: 200 });
  const log = createLogRecorder();
  const asked: string[] = [];
  const runner = createQueueRunner({
    queue: await openRunQueue(url, db, leadership.epoch),
    version,
    clock: { now: Date.now },
    logger: log,
    markKey: 'key',
    killed: new AbortController().signal,
    lostAfterMs,
  });
  const tracker = {
    fetchIssueById: (issueId: string) => {
      asked.push(`issue ${issueId}`);
      return Promise.resolve(issueWith({ id: issueId, state: 'todo' }));
    },
    fetchIssueStatesByIds: (ids: readonly string[]) => Promise.resolve(new Map(ids.map((one) => [one, 'todo']))),
    transitionIssue: (issueId: string, state: string) => {
      asked.push(`${issueId} to ${state}`);
      return Promise.resolve();
    },
  } as unknown as Tracker;
  return {
    runner,
    log,
    db,
    asked,
    start(plan) {
      const reports: RunReport[] = [];
      const exit = new Promise<RunExit>((resolve) => {
        runner.start(
          plan,
          {
            tracker,
            isMoving: () => false,
            tools: TOOLS,
            carrier: null,
            repository: null,
            template: { body: 'Work on {{ .issue.identifier }}.', line: 1 },
            heldBack: () => null,
          },
          {
            announce: () => {},
            report(said) {
              reports.push(said);
              if (said.type === 'run-exited') resolve(said.exit);
            },
          },
        );
      });
      return { reports, exit };
    },
    async leave() {
      await runner.close();
      await leadership.leave();
      await db.close();
    },
  };
}

/** Repeats what it is told. */
const TOOLS: ToolCalls = {
  call: (name, { text }) => Promise.resolve({ ok: true, data: `${name} ${String(text)}`, status: null }),
};

let planned = 0;

function aPlan(options: {
  issue?: string;
  agent?: Partial<AgentSettings>;
  options?: Record<string, unknown>;
  holder?: string;
  inProgress?: string;
}): RunPlan {
  planned += 1;
  const id = options.issue ?? String(planned);
  const issue = issueWith({ id, identifier: `T-${id}`, state: 'todo' });
  return {
    runId: `r-${planned}`,
    issue: refOf(issue),
    attempt: 0,
    trigger: 'fresh',
    reaction: null,
    issueAsRead: null,
    resumeSessionId: null,
    holder: options.holder ?? null,
    settings: settingsWith({
      tracker: { apiKey: 'tracker-secret', activeStates: ['todo', 'doing'], inProgressState: options.inProgress ?? null },
      agent: { maxTurns: 1, runOn: [], stopGraceMs: 500, ...options.agent },
      rest: { agentOptions: options.options ?? {} },
    }),
  };
}

interface AWorker {
  readonly child: ChildProcess;
  said(): string;
  ended(): Promise<number | null>;
}

async function startWorker(name: string, ...more: string[]): Promise<AWorker> {
  const worker = spawnWorker(name, ...more);
  await eventually(worker.said, (said) => said.includes('foray worker started'), `worker ${name}`);
  return worker;
}

function spawnWorker(name: string, ...more: string[]): AWorker {
  const root = path.join(folder, name);
  const args = [CLI, 'worker', '--url', '$FLEET_DB', '--name', name, '--root', root, ...more];
  const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder, FLEET_DB: url };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return {
    child,
    said: () => text,
    ended: async () => (child.exitCode === null ? ((await once(child, 'exit')) as [number | null])[0] : child.exitCode),
  };
}

/** An agent with a process of its own, which works until it is ended. */
async function installSleeper(before = ''): Promise<void> {
  await writeFile(
    path.join(folder, 'claude'),
    `#!/bin/sh\n${before}\ncat >/dev/null\necho $$ >> "${folder}/pids"\nexec sleep 300\n`,
  );
  await chmod(path.join(folder, 'claude'), 0o755);
}

const sleepers = async (): Promise<number[]> => {
  const text = await readFile(path.join(folder, 'pids'), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
};

describe('runs on workers', () => {
  it('are worked on there, and ask the leader for what they need of the tracker', async () => {
    await startWorker('w1', '--slots', '2', '--label', 'gpu');
    const plan = aPlan({ agent: { runOn: ['gpu'] }, inProgress: 'doing' });
    const { reports, exit } = leader.start(plan);
    expect(await exit).toMatchObject({ kind: 'normal', turns: 1, fault: null });
    const types = reports.map(({ type }) => type);
    const inOrder = [
      'workspace-chosen',
      'run-prepared',
      'session-started',
      'turn-started',
      'agent-spoke',
      'turn-completed',
      'run-exited',
    ];
    expect(inOrder.map((type) => types.indexOf(type as RunReport['type']))).toEqual(
      inOrder.map((type) => types.indexOf(type as RunReport['type'])).toSorted((a, b) => a - b),
    );
    expect(reports.find(({ type }) => type === 'run-prepared')).toMatchObject({
      workspacePath: `w1:${path.join(folder, 'w1')}/${plan.issue.identifier}`,
    });
    expect(leader.asked).toContain(`${plan.issue.id} to doing`);
    expect(existsSync(path.join(folder, 'w1', plan.issue.identifier))).toBe(true);
    expect(leader.runner.hosts()).toEqual([
      expect.objectContaining({ name: 'w1', kind: 'worker', labels: ['gpu'], slots: 2, problem: null }),
    ]);
    expect(await postgres.query('SELECT * FROM foray.worker_runs', url)).toEqual([]);
  });

  it('never carry a credential of the tracker', async () => {
    const plan = aPlan({ options: { turn_delay_ms: 2_000 } });
    const worker = await startWorker('w1');
    const { exit } = leader.start(plan);
    const rows = await eventually(
      () => postgres.query('SELECT job FROM foray.worker_runs', url),
      (found) => found.length > 0,
    );
    expect(String(rows[0]?.['job'])).not.toContain('tracker-secret');
    await exit;
    expect(worker.said()).not.toContain('postgres://');
  });

  it('wait for a worker with their labels, and go back to the one that holds the workspace', async () => {
    await startWorker('w1', '--slots', '4');
    const needy = leader.start(aPlan({ agent: { runOn: ['gpu'] } }));
    const back = aPlan({ holder: 'w2' });
    await startWorker('w2', '--slots', '1', '--label', 'gpu');
    expect(await needy.exit).toMatchObject({ kind: 'normal' });
    const wait = { text: expect.stringMatching(/^waits in the queue for a worker with the labels gpu: /) as string };
    expect(needy.reports.slice(0, 2)).toMatchObject([{ event: wait }, { host: 'w2' }]);
    const again = leader.start(back);
    await again.exit;
    expect(again.reports[0]).toMatchObject({ host: 'w2' });
    const moved = leader.start({ ...aPlan({ holder: 'gone' }), resumeSessionId: 'before' });
    await moved.exit;
    expect(moved.reports[1]).toMatchObject({
      event: { text: expect.stringMatching(/made anew on .* conversation starts over/) as string },
    });
  });

  it('stop when they are told to', async () => {
    await startWorker('w1');
    const plan = aPlan({ options: { outcomes: ['hang'] } });
    const { reports, exit } = leader.start(plan);
    await eventually(
      () => reports.some(({ type }) => type === 'turn-started'),
      (begun) => begun,
    );
    expect(leader.runner.stop(plan.runId, 'operator')).toBe('told');
    expect(await exit).toMatchObject({ kind: 'cancelled' });
    const waiting = aPlan({ agent: { runOn: ['nobody'] } });
    const never = leader.start(waiting);
    leader.runner.stop(waiting.runId, 'operator');
    expect(await never.exit).toMatchObject({ kind: 'cancelled' });
  });

  it('are finished by a worker that is told to end, which then takes no more', async () => {
    const worker = await startWorker('w1');
    const { reports, exit } = leader.start(aPlan({ options: { turn_delay_ms: 2_500 } }));
    await eventually(
      () => reports.some(({ type }) => type === 'turn-started'),
      (begun) => begun,
    );
    worker.child.kill('SIGTERM');
    expect(await exit).toMatchObject({ kind: 'normal' });
    expect(await worker.ended()).toBe(0);
    await eventually(
      () => leader.runner.hosts(),
      (hosts) => hosts.length === 0,
      'the worker to have left',
    );
  });
});

describe('a database that crashes and comes back', () => {
  it('loses nothing of a run under way, and the worker goes on to take runs', { timeout: 90_000 }, async () => {
    await leader.leave();
    leader = await lead('b', { lostAfterMs: 60_000 });
    const worker = await startWorker('w1');
    const { reports, exit } = leader.start(aPlan({ options: { turn_delay_ms: 3_000 } }));
    await eventually(
      () => reports.some(({ type }) => type === 'turn-started'),
      (begun) => begun,
    );
    await postgres.stop('crash');
    // Long enough for the runner of the queue to be given up.
    await delay(4_500);
    await postgres.start();
    expect(await exit).toMatchObject({ kind: 'normal', turns: 1 });
    expect(reports.filter(({ type }) => type === 'turn-completed')).toHaveLength(1);
    expect(await leader.start(aPlan({})).exit).toMatchObject({ kind: 'normal' });
    expect(worker.said(), 'a stack of what was to be foreseen').not.toMatch(/^\s+at /m);
  });
});

describe('a worker that starts while the database does not answer', () => {
  it('waits for it, and takes runs; also where it is lost again right after', { timeout: 120_000 }, async () => {
    await leader.leave();
    leader = await lead('b', { lostAfterMs: 60_000 });
    await postgres.stop('crash');
    const starting = startWorker('w1');
    await delay(2_500);
    await postgres.start();
    const worker = await starting;
    expect(worker.said()).toContain('waiting for the database');
    for (let times = 0; times < 3; times += 1) {
      await postgres.stop('crash');
      await delay(times * 700);
      await postgres.start();
    }
    expect(await leader.start(aPlan({})).exit).toMatchObject({ kind: 'normal' });
    expect(leader.runner.hosts()).toMatchObject([{ name: 'w1' }]);
  });

  it('ends when it is told to, and is known to nobody', async () => {
    await postgres.stop();
    try {
      const child = spawnWorker('w1');
      await eventually(child.said, (said) => said.includes('waiting for the database'), 'the wait');
      child.child.kill('SIGTERM');
      expect(await child.ended()).toBe(0);
    } finally {
      await postgres.start();
    }
  });
});

describe('a worker of another version', () => {
  it('gets no run from a service of another version, says why, and works when it is the same again', async () => {
    await leader.leave();
    leader = await lead('b', { version: '0.2.0' });
    const worker = await startWorker('w1');
    const waiting = leader.start(aPlan({}));
    await eventually(worker.said, (said) => said.includes('this worker gets no runs'), 'the refusal to be told');
    const reason = 'it is version 0.1.0 and the service is 0.2.0: install the same version on both';
    expect(worker.said()).toContain(reason);
    expect(leader.runner.hosts()).toMatchObject([{ name: 'w1', problem: reason }]);
    expect(leader.runner.problemOf([])).toContain(`no worker takes runs (w1: ${reason})`);
    expect(waiting.reports.filter(({ type }) => type !== 'agent-spoke')).toEqual([]);
    await leader.leave();
    leader = await lead('c', { version: '0.1.7' });
    expect(await leader.start(aPlan({})).exit).toMatchObject({ kind: 'normal' });
  });

  it('does not start on the records of a newer one, nor where there are none', async () => {
    const started = (address: string) => {
      const args = [CLI, 'worker', '--url', '$FLEET_DB', '--name', 'w1', '--root', path.join(folder, 'w1')];
      return spawnSync(process.execPath, args, {
        env: { PATH: process.env['PATH'], HOME: folder, FLEET_DB: address },
        encoding: 'utf8',
      });
    };
    await postgres.query('INSERT INTO foray.schema_migrations (version, applied_at) VALUES (999, 0)', url);
    const newer = started(url);
    expect([newer.status, newer.stderr]).toEqual([1, expect.stringContaining('was made by a newer version of foray')]);
    const none = started(await postgres.createDatabase());
    expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('start a service with this store.url first')]);
  });
});

describe('a worker that is lost', () => {
  it('gives its run to another; killed, its agent ends when it starts again', { timeout: 90_000 }, async () => {
    await installSleeper();
    const lost = await startWorker('w1');
    const claude = { agent: { kind: 'claude-code', runOn: [] } };
    const first = leader.start(aPlan({ issue: 'x', ...claude }));
    await eventually(sleepers, (pids) => pids.length === 1, 'the agent');
    lost.child.kill('SIGKILL');
    expect(await first.exit).toMatchObject({ kind: 'error', fault: { kind: 'worker_lost', consequence: 'back-off' } });
    await startWorker('w2');
    const second = leader.start(aPlan({ issue: 'x', holder: 'w1' }));
    expect(await second.exit).toMatchObject({ kind: 'normal' });
    const [pid = 0] = await sleepers();
    await startWorker('w1');
    expect(isAlive(pid)).toBe(false);
  });

  it
    .runIf(process.platform === 'linux')
    .each([['killed', ['SIGKILL']] as const, ['told twice to end', ['SIGTERM', 'SIGTERM']] as const])(
    'takes along what left the group of its agent: one that is %s',
    async (_what, signals) => {
      await installSleeper(`setsid sh -c 'echo $$ >> "${folder}/strays"; exec sleep 300' > /dev/null 2>&1 &`);
      const lost = await startWorker('w1');
      const { exit } = leader.start(aPlan({ issue: 'y', agent: { kind: 'claude-code', runOn: [] } }));
      const stray = Number(
        await eventually(() => readFile(path.join(folder, 'strays'), 'utf8').catch(() => ''), Boolean, 'the stray'),
      );
      for (const signal of signals) {
        lost.child.kill(signal);
        await delay(100);
      }
      await eventually(
        () => isAlive(stray),
        (alive) => !alive,
        'the end of the stray',
      );
      await exit;
    },
  );

  it('finds its run gone when it comes back, ends its agent and writes nothing', { timeout: 90_000 }, async () => {
    await installSleeper();
    const zombie = await startWorker('w1');
    const { exit, reports } = leader.start(aPlan({ issue: 'z', agent: { kind: 'claude-code', runOn: [] } }));
    await eventually(sleepers, (pids) => pids.length === 1, 'the agent');
    zombie.child.kill('SIGSTOP');
    expect(await exit).toMatchObject({ fault: { kind: 'worker_lost' } });
    const heard = reports.length;
    zombie.child.kill('SIGCONT');
    await eventually(zombie.said, (said) => said.includes('run given up'), 'the lease to be missed');
    const [pid = 0] = await sleepers();
    await eventually(
      () => isAlive(pid),
      (alive) => !alive,
      'the end of the agent',
    );
    expect(await postgres.query('SELECT * FROM foray.worker_words', url)).toEqual([]);
    expect(reports).toHaveLength(heard);
  });

  it('can ask and say nothing for a run that another leader took back', async () => {
    const connection = await openWorkerConnection(url, { name: 'z', identity: 'z', labels: [], slots: 1, version: '0.1.0' });
    await connection.beat({ load: 0, draining: false });
    const plan = aPlan({});
    leader.start(plan);
    await eventually(
      () => connection.jobOf(plan.runId),
      (job) => job !== null,
    );
    const call = { ask: 'tool', name: 'comment', args: { text: 'hi' } } as const;
    expect(await connection.ask(plan.runId, 'q1', call, [])).toBe('asked');
    const answer = await eventually(
      () => connection.answerTo('q1'),
      (found) => found !== null,
    );
    expect(answer).toMatchObject({ ok: true, value: { ok: true, data: 'comment hi' } });
    expect(await connection.answerTo('q1'), 'an answer that was lost on the way is read again').toEqual(answer);
    expect(await connection.ask(plan.runId, 'q2', call, ['q1'])).toBe('asked');
    expect(await connection.answerTo('q1'), 'one that was heard is dropped').toBeNull();
    await leader.leave();
    leader = await lead('b');
    await eventually(
      () => connection.jobOf(plan.runId),
      (job) => job === null,
      'the lease to be taken back',
    );
    expect(await connection.ask(plan.runId, 'q3', call, [])).toBeNull();
    expect(await connection.say(plan.runId, 1, [])).toBe(false);
    expect(await postgres.query('SELECT * FROM foray.worker_requests', url)).toEqual([]);
    await connection.close();
  });

  it('of an old leader keeps nothing: another leader takes every run back', { timeout: 90_000 }, async () => {
    const worker = await startWorker('w1');
    const { reports } = leader.start(aPlan({ options: { outcomes: ['hang'] } }));
    await eventually(
      () => reports.some(({ type }) => type === 'turn-started'),
      (begun) => begun,
    );
    await leader.leave();
    leader = await lead('b');
    await eventually(worker.said, (said) => said.includes('run given up'), 'the run to be given up');
    expect(await leader.start(aPlan({})).exit).toMatchObject({ kind: 'normal' });
  });
});

it(
  `${RUNS} runs, none lost and none doubled, while workers are killed and the server crashes`,
  { timeout: 120_000 + RUNS * 1_000 },
  async () => {
    const names = ['w1', 'w2', 'w3'];
    const workers = new Map<string, AWorker>();
    for (const name of names) workers.set(name, await startWorker(name, '--slots', '4'));
    let [ended, lost] = [0, 0];
    const finished = new Map<string, number>();
    const workOn = async (issue: string): Promise<void> => {
      for (;;) {
        const started = leader.start(aPlan({ issue, options: { turn_delay_ms: 300 } }));
        const exit = await started.exit;
        expect(started.reports.filter(({ type }) => type === 'run-exited')).toHaveLength(1);
        ended += 1;
        if (exit.kind === 'normal') return void finished.set(issue, (finished.get(issue) ?? 0) + 1);
        expect(exit.fault?.kind).toBe('worker_lost');
        lost += 1;
      }
    };
    const all = Promise.all(Array.from({ length: RUNS }, (_, index) => workOn(`i${index}`)));
    // In a large test one fault for every fifty runs, from the first to the last of them; every fifth is a crash of the server.
    const faults = RUNS < 100 ? 3 : RUNS / 50;
    const apart = RUNS < 100 ? 3 : RUNS / (faults + 1);
    for (let fault = 0; fault < faults; fault += 1) {
      const before = ended;
      while (ended < before + apart && finished.size < RUNS) await delay(50);
      if (fault % 5 === 4) {
        await postgres.stop('crash');
        await postgres.start();
        continue;
      }
      const name = names[fault % names.length] ?? 'w1';
      workers.get(name)?.child.kill('SIGKILL');
      await workers.get(name)?.ended();
      workers.set(name, await startWorker(name, '--slots', '4'));
    }
    await all;
    expect([...finished.values()].every((times) => times === 1)).toBe(true);
    expect(finished.size).toBe(RUNS);
    expect(ended).toBe(RUNS + lost);
  },
);
