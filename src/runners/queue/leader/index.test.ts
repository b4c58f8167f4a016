import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { issueWith } from '../../../../test/support/issues.ts';
import { settingsWith } from '../../../../test/support/settings.ts';
import { WorkspaceError } from '../../../domain/model/errors.ts';
import type { RunPlan } from '../../../domain/model/effect.ts';
import type { RunExit, RunReport } from '../../../domain/model/event.ts';
import { faultOf, type Fault } from '../../../domain/model/fault.ts';
import { refOf } from '../../../domain/model/issue.ts';
import type {
  AskedOfTheLeader,
  GivenJob,
  RunAnswer,
  RunJob,
  RunQueue,
  MessageBatch,
  WorkerRow,
} from '../../../ports/run-queue.ts';
import type { ToolCalls } from '../../../ports/runner.ts';
import type { Tracker } from '../../../ports/tracker.ts';
import type { RemovalSubject } from '../../../ports/workspace.ts';
import { StoreError } from '../../../store/errors.ts';
import { createQueueRunner, type QueueRunner } from './index.ts';

const DONE: RunExit = { kind: 'normal', turns: 1, fault: null, status: null, scm: null };
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const REFUSED = new StoreError({ path: 'p', kind: 'failed', what: 'failed (identifier is too long)', remedy: 'see the message' });

function aWorker(name: string, more: Partial<WorkerRow> = {}): WorkerRow {
  const facts = { labels: [], slots: 1, version: '1.2.3', load: 0, heardAt: 0, silentMs: 0, draining: false };
  return { id: `${name}#1`, name, identity: name, ...facts, ...more };
}

/** A queue in memory that loses what it is told to lose, as a connection that breaks does. */
function createMemoryQueue() {
  const given: GivenJob[] = [];
  const done: string[] = [];
  const answers: [string, RunAnswer][] = [];
  const refused: [string, string | null][] = [];
  const failing = new Map<string, number>();
  let batches: MessageBatch[] = [];
  const requests: AskedOfTheLeader[] = [];
  const memory = {
    workers: [aWorker('w1')] as WorkerRow[],
    /** The worker for which nothing is taken. */
    refuses: null as string | null,
    given,
    done,
    answers,
    refused,
    requests,
    fail: (what: string, times = 1) => void failing.set(what, times),
    say: (batch: MessageBatch) => void batches.push(batch),
  };
  const may = (what: string): void => {
    const left = failing.get(what) ?? 0;
    failing.set(what, left - 1);
    if (left > 0) throw new Error(`no answer to ${what}`);
    done.push(what);
  };
  const queue: RunQueue = {
    revokeAll: async () => may('revokeAll'),
    async look({ heard }) {
      may('look');
      const told = [...batches];
      batches = batches.filter((batch) => !heard.some(({ runId, number }) => runId === batch.runId && batch.number <= number));
      if ((failing.get('look answer') ?? 0) > 0) may('look answer');
      const open = requests.filter(({ id }) => !answers.some(([answered]) => answered === id));
      return { batches: told, requests: open, workers: memory.workers };
    },
    refuse: async (id, why) => void refused.push([id, why]),
    async give(jobs) {
      may('give');
      if (jobs.some(({ workerId }) => workerId === memory.refuses)) throw REFUSED;
      given.push(...jobs);
    },
    tellStop: async (runId, reason) => may(`stop ${runId} ${reason}`),
    async answer(id, answer) {
      may('answer');
      answers.push([id, answer]);
    },
    revoke: async (ids) => may(`revoke ${ids.join(' ')}`),
    forgetWorker: async () => {},
    close: async () => {},
  };
  return { ...memory, memory, queue };
}

let memory: ReturnType<typeof createMemoryQueue>;
let runner: QueueRunner;
let joined: number;
beforeEach(() => {
  joined = 0;
  memory = createMemoryQueue();
  const killed = new AbortController().signal;
  runner = createQueueRunner({
    queue: memory.queue,
    version: '1.2.9',
    clock: { now: Date.now },
    logger: SILENT,
    markKey: 'k',
    killed,
    onJoined: () => void (joined += 1),
  });
});
afterEach(() => runner.close());

let planned = 0;
/** Whether the tracker is at work for the runs. */
let isMoving = false;
function start(calls: ToolCalls | null = null, more: Partial<RunPlan> = {}, heldBack: () => string | null = () => null) {
  planned += 1;
  const issue = issueWith({ id: String(planned), state: 'todo' });
  const plan: RunPlan = {
    runId: `r${planned}`,
    issue: refOf(issue),
    attempt: 0,
    trigger: 'fresh',
    reaction: null,
    issueAsRead: null,
    resumeSessionId: null,
    holder: null,
    settings: settingsWith({ agent: { runOn: [] } }),
    ...more,
  };
  const reports: RunReport[] = [];
  const moved: string[] = [];
  const tracker = { transitionIssue: async (_id: string, state: string) => void moved.push(state) } as unknown as Tracker;
  const parts = {
    tracker,
    isMoving: () => isMoving,
    tools: calls,
    carrier: null,
    repository: null,
    template: { body: '', line: 1 },
    heldBack,
  };
  runner.start(plan, parts, { announce: () => {}, report: (said) => void reports.push(said) });
  return {
    id: plan.runId,
    reports,
    moved,
    types: () => reports.map(({ type }) => type),
    ids: { issueId: issue.id, runId: plan.runId },
  };
}

const soon = { interval: 10 };

describe('a queue whose database fails now and then', () => {
  it('gives a run when the database answers again, and tells its end once nobody can write for it', async () => {
    memory.fail('revokeAll');
    memory.fail('give', 2);
    const run = start();
    await expect.poll(() => memory.given.map(({ id }) => id), soon).toEqual([run.id]);
    expect(run.types()).toEqual(['workspace-chosen']);
    memory.fail(`revoke ${run.id}`, 2);
    memory.fail('look answer');
    memory.say({ runId: run.id, number: 1, messages: [{ report: { type: 'run-exited', ...run.ids, exit: DONE } }] });
    await expect.poll(() => run.types(), soon).toEqual(['workspace-chosen', 'run-exited']);
    expect(memory.done).toContain(`revoke ${run.id}`);
    expect(runner.hosts()).toMatchObject([{ name: 'w1', running: 0 }]);
  });

  it('gives runs one by one where it refuses one of them, and passes the worker over that it was for', async () => {
    memory.memory.workers = [aWorker('w1', { slots: 3 }), aWorker('w2')];
    memory.memory.refuses = 'w1#1';
    const [one, two] = [start(), start()];
    await expect.poll(() => memory.given.map(({ workerId }) => workerId), soon).toEqual(['w2#1']);
    expect(runner.hosts()[0]?.problem).toMatch(/^no run can be given to it \(.*identifier is too long/);
    const waits = { type: 'notice', text: expect.stringMatching(/^waits in the queue: it cannot be given to w1 \(/) as string };
    expect(one.reports[0]).toMatchObject({ type: 'agent-spoke', event: waits });
    memory.memory.workers = [aWorker('w2', { slots: 2 })];
    await expect.poll(() => memory.given.map(({ id }) => id).toSorted(), soon).toEqual([one.id, two.id]);
  });

  it('hears a batch once that comes twice, and carries a request out once', async () => {
    const called: string[] = [];
    const calls: ToolCalls = {
      call: async (name) => {
        called.push(name);
        return { ok: true, data: name, status: null };
      },
    };
    const run = start(calls);
    await expect.poll(() => memory.given.length, soon).toBe(1);
    const spoke: RunReport = { type: 'agent-spoke', ...run.ids, event: { type: 'notice', text: 'hi' } };
    for (let times = 0; times < 2; times += 1) memory.say({ runId: run.id, number: 1, messages: [{ report: spoke }] });
    memory.fail('answer', 2);
    memory.requests.push({ id: 'q1', runId: run.id, request: { ask: 'tool', name: 'comment', args: { text: 'x' } } });
    memory.requests.push({ id: 'q2', runId: 'another', request: { ask: 'tool', name: 'comment', args: { text: 'x' } } });
    memory.requests.push({ id: 'q3', runId: run.id, request: { ask: 'move', state: 'done' } });
    await expect.poll(() => memory.answers.length, soon).toBe(2);
    expect(new Map(memory.answers).get('q1')).toEqual({ ok: true, value: { ok: true, data: 'comment', status: null } });
    expect(new Map(memory.answers).get('q3')).toMatchObject({ ok: false });
    expect(called).toEqual(['comment']);
    expect(run.moved).toEqual([]);
    expect(run.types()).toEqual(['workspace-chosen', 'agent-spoke']);
  });

  it('carries a request out once though its answer is lost with a server, and says so', async () => {
    const called: string[] = [];
    const run = start({ call: async (name) => ({ ok: true, data: called.push(name), status: null }) });
    await expect.poll(() => memory.given.length, soon).toBe(1);
    memory.requests.push({ id: 'q1', runId: run.id, request: { ask: 'tool', name: 'comment', args: {} } });
    await expect.poll(() => memory.answers.length, soon).toBe(1);
    memory.answers.length = 0;
    await expect.poll(() => memory.answers.length, soon).toBe(1);
    expect(memory.answers[0]?.[1]).toMatchObject({
      ok: false,
      fault: { message: expect.stringContaining('was lost') as unknown },
    });
    expect(called).toEqual(['comment']);
  });

  it('tells a worker to stop until it was told', async () => {
    const run = start();
    await expect.poll(() => memory.given.length, soon).toBe(1);
    memory.fail(`stop ${run.id} operator`, 2);
    expect(runner.stop(run.id, 'operator')).toBe('told');
    await expect.poll(() => memory.done, soon).toContain(`stop ${run.id} operator`);
    const waits = start();
    runner.stop(waits.id, 'operator');
    await expect.poll(() => waits.reports.at(-1), soon).toMatchObject({ type: 'run-exited', exit: { kind: 'cancelled' } });
    expect(runner.stop('r0', 'operator')).toBe('unknown');
  });
});

it('tells the end of a run when its issue is no longer being moved for it, and begins nothing for it meanwhile', async () => {
  const called: string[] = [];
  const run = start({ call: async (name) => ({ ok: true, data: called.push(name), status: null }) });
  await expect.poll(() => memory.given.length, soon).toBe(1);
  isMoving = true;
  memory.say({ runId: run.id, number: 1, messages: [{ report: { type: 'run-exited', ...run.ids, exit: DONE } }] });
  memory.requests.push({ id: 'q1', runId: run.id, request: { ask: 'tool', name: 'comment', args: {} } });
  const looks = (): number => memory.done.filter((what) => what.startsWith('look')).length;
  const before = looks();
  await expect.poll(looks, soon).toBeGreaterThan(before + 2);
  expect(run.types()).toEqual(['workspace-chosen']);
  isMoving = false;
  await expect.poll(() => run.types(), soon).toEqual(['workspace-chosen', 'run-exited']);
  expect(called).toEqual([]);
});

describe('a worker of another version', () => {
  it('gets no run and is told why, whether it is older or newer; another last number is fine', async () => {
    memory.memory.workers = [aWorker('old', { version: '1.1.9' }), aWorker('new', { version: '2.2.3' })];
    const run = start();
    const reasons = () => memory.refused.filter(([id]) => id !== 'w1#1');
    await expect.poll(() => reasons().length, soon).toBe(2);
    expect(reasons()).toEqual([
      ['old#1', 'it is version 1.1.9 and the service is 1.2.9: install the same version on both'],
      ['new#1', 'it is version 2.2.3 and the service is 1.2.9: install the same version on both'],
    ]);
    expect(runner.hosts().map(({ problem }) => problem)).toEqual(reasons().map(([, why]) => why));
    expect(runner.problemOf([])).toContain('no worker takes runs (old: it is version');
    expect(memory.given).toEqual([]);
    memory.memory.workers = [aWorker('new', { version: '1.2.0' })];
    await expect.poll(() => memory.given.map(({ id }) => id), soon).toEqual([run.id]);
    expect(memory.refused.at(-1)).toEqual(['new#1', null]);
  });
});

it('tells that a worker came, where nobody could take its runs before', async () => {
  await expect.poll(() => joined, soon).toBe(1);
  memory.memory.workers = [aWorker('w1'), aWorker('w2')];
  start();
  await expect.poll(() => runner.hosts().length, soon).toBe(2);
  expect(joined).toBe(1);
  memory.memory.workers = [aWorker('w1'), aWorker('w2'), aWorker('w3', { labels: ['gpu'] })];
  await expect.poll(() => joined, soon).toBe(2);
});

it('gives no run that is held back, says why, and gives it when that is over', async () => {
  memory.memory.workers = [aWorker('w1', { slots: 2 })];
  let paused: string | null = 'waits in the queue: paused by an operator (ann)';
  const run = start(null, {}, () => paused);
  const other = start();
  await expect.poll(() => memory.given.map(({ id }) => id), soon).toEqual([other.id]);
  await expect
    .poll(() => run.reports, soon)
    .toMatchObject([{ type: 'agent-spoke', event: { type: 'notice', text: 'waits in the queue: paused by an operator (ann)' } }]);
  paused = null;
  await expect.poll(() => memory.given.map(({ id }) => id), soon).toEqual([other.id, run.id]);
  expect(run.types()).toEqual(['agent-spoke', 'workspace-chosen']);
});

describe('workers whose hosts have the same name', () => {
  it('are told apart by their identity, and each gets back what it holds', async () => {
    const [first, second] = ['box#aaaa1111', 'box#bbbb2222'].map((name) => aWorker(name, { identity: name.slice(4), slots: 2 }));
    memory.memory.workers = [first!, second!];
    const run = start(null, { holder: 'box#bbbb2222' });
    await expect.poll(() => memory.given, soon).toMatchObject([{ id: run.id, workerId: second!.id }]);
    expect(run.reports[0]).toMatchObject({ type: 'workspace-chosen', host: 'box#bbbb2222' });
    expect(runner.hosts().map(({ name }) => name)).toEqual(['box#aaaa1111', 'box#bbbb2222']);
    memory.memory.workers = [second!];
    await expect.poll(() => runner.hosts().map(({ name }) => name), soon).toEqual(['box']);
  });

  it('and were both given it: the second gets no runs and is told why', async () => {
    memory.memory.workers = [aWorker('box'), aWorker('box', { id: 'box#2', identity: 'other', slots: 9 })];
    const run = start();
    await expect.poll(() => memory.given, soon).toMatchObject([{ id: run.id, workerId: 'box#1' }]);
    const why = 'another worker is called box: give each a --name of its own';
    expect(memory.refused).toContainEqual(['box#2', why]);
    expect(runner.hosts().map(({ problem }) => problem)).toEqual([null, why]);
  });
});

describe('a worker that is silent', () => {
  it('gets nothing new after ten seconds, and its run is another’s after thirty', async () => {
    const run = start();
    await expect.poll(() => memory.given.length, soon).toBe(1);
    memory.memory.workers = [aWorker('w1', { slots: 2, silentMs: 11_000 })];
    const second = start();
    await expect.poll(() => runner.hosts()[0]?.slots, soon).toBe(2);
    expect(memory.given).toHaveLength(1);
    const wait = { type: 'notice', text: 'waits in the queue for a worker: all slots are taken' };
    expect(second.reports).toMatchObject([{ type: 'agent-spoke', event: wait }]);
    memory.memory.workers = [aWorker('w1', { slots: 2, silentMs: 30_001 }), aWorker('w2')];
    await expect
      .poll(() => run.reports.at(-1), soon)
      .toMatchObject({
        type: 'run-exited',
        exit: {
          kind: 'error',
          fault: { kind: 'worker_lost', message: 'worker_lost: w1 was not heard of for 30 s' },
        },
      });
    await expect.poll(() => memory.given.map(({ id, workerId }) => [id, workerId]), soon).toContainEqual([second.id, 'w2#1']);
  });
});

it('a run is given with the time of the leader, for that of its worker may differ', async () => {
  const before = Date.now();
  start();
  await expect.poll(() => memory.given.length, soon).toBe(1);
  const { leaderNow } = memory.given[0]!.job as RunJob;
  expect(leaderNow).toBeGreaterThanOrEqual(before);
  expect(leaderNow).toBeLessThanOrEqual(Date.now());
});

it('a worker of another version may tell of a fault that is unknown here', async () => {
  const run = start();
  await expect.poll(() => memory.given.length, soon).toBe(1);
  const fault = { kind: 'agent_dreamt', message: 'agent: agent_dreamt: of sheep', consequence: 'back-off' } as const;
  const exit = { ...DONE, kind: 'error', fault: fault as unknown as Fault } as const;
  memory.say({ runId: run.id, number: 1, messages: [{ report: { type: 'run-exited', ...run.ids, exit } }] });
  await expect
    .poll(() => run.reports.at(-1), soon)
    .toMatchObject({ type: 'run-exited', exit: { kind: 'error', fault: { ...fault, kind: 'internal_error' } } });
});

describe('a worker that lacks the agent', () => {
  const fault = { kind: 'agent_not_found', message: 'no such program', consequence: 'back-off-at-cap' } as const;
  const lacks = (run: ReturnType<typeof start>): void =>
    memory.say({
      runId: run.id,
      number: 1,
      messages: [{ report: { type: 'run-exited', ...run.ids, exit: { ...DONE, kind: 'error', fault } } }],
    });
  const places = () => memory.given.map(({ id, workerId }) => [id, workerId]);

  it('does not get the run again while there is another, though it holds the workspace, and is shown with what it lacks', async () => {
    memory.memory.workers = [aWorker('w1', { slots: 9 }), aWorker('w2')];
    const first = start();
    await expect.poll(places, soon).toEqual([[first.id, 'w1#1']]);
    lacks(first);
    await expect.poll(() => first.types().at(-1), soon).toBe('run-exited');
    expect(runner.hosts().map(({ problem }) => problem)).toEqual(['no such program', null]);
    const [second, third] = [start(null, { holder: 'w1' }), start(null, { holder: 'w1' })];
    await expect.poll(places, soon).toContainEqual([second.id, 'w2#1']);
    const wait = { type: 'notice', text: 'waits in the queue for a worker: all slots are taken' };
    await expect.poll(() => third.reports, soon).toMatchObject([{ type: 'agent-spoke', event: wait }]);
    memory.memory.workers = [aWorker('w1', { slots: 9 })];
    await expect.poll(places, soon).toContainEqual([third.id, 'w1#1']);
  });
});

describe('the removal of a workspace', () => {
  const subject = { tracker: 't', issueId: '1', identifier: 'A-1' } as RemovalSubject;
  const signal = new AbortController().signal;

  it('is asked of the worker that holds it, and says what came of it', async () => {
    const removal = runner.remove('w1', subject, 14, signal);
    await expect.poll(() => memory.given.length, soon).toBe(1);
    expect(memory.given[0]).toMatchObject({ workerId: 'w1#1', job: { removal: subject, removedDays: 14, markKey: 'k' } });
    const removed = { removed: true, path: '/w/A-1', aside: null };
    memory.say({ runId: memory.given[0]!.id, number: 1, messages: [{ removed: { ok: true, value: removed } }] });
    expect(await removal).toEqual(removed);
    await expect.poll(() => memory.done, soon).toContain(`revoke ${memory.given[0]!.id}`);
  });

  it('fails as it failed on the worker', async () => {
    const removal = runner.remove('w1', subject, 14, signal);
    const failed = removal.catch((error: unknown) => error);
    await expect.poll(() => memory.given.length, soon).toBe(1);
    const fault = faultOf(new WorkspaceError('hook before_remove', 'exit status 3', { retryable: false }));
    memory.say({ runId: memory.given[0]!.id, number: 1, messages: [{ removed: { ok: false, fault } }] });
    expect(faultOf(await failed)).toEqual(fault);
  });

  it('is refused where the worker is not there, or leaves meanwhile', async () => {
    await expect(runner.remove('gone', subject, 14, signal)).rejects.toThrow(
      'the worker gone, which holds the workspace of A-1, is not there; it is removed when the worker is back',
    );
    const removal = runner.remove('w1', subject, 14, signal);
    await expect.poll(() => memory.given.length, soon).toBe(1);
    memory.memory.workers = [];
    await expect(removal).rejects.toThrow('is not there');
    memory.memory.workers = [aWorker('w1')];
    memory.memory.refuses = 'w1#1';
    await expect(runner.remove('w1', subject, 14, signal)).rejects.toThrow('identifier is too long');
  });
});
