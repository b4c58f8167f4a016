import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import type { AgentStatus, ScmRecord } from '../../domain/model/agent-event.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import type { RunReport } from '../../domain/model/event.ts';
import type { Fault } from '../../domain/model/fault.ts';
import { refOf } from '../../domain/model/issue.ts';
import type { StopReason } from '../../domain/model/run.ts';
import type { Notice } from '../../domain/model/notice.ts';
import type { RunAdapters } from '../../ports/runner.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { createLocalRunner } from './index.ts';

interface Scene {
  readonly maxTurns?: number;
  readonly maxIterations?: number;
  /** Whether each verification passes, in order; the last one repeats. */
  readonly passes?: readonly boolean[];
  /** The issue's state after each turn. */
  readonly states?: readonly string[];
  /** The turn during which somebody closes it. */
  readonly closedIn?: number;
  /** The turn after which the workspace is no longer the issue's own. */
  readonly lostAfter?: number;
  readonly inProgressState?: string;
  readonly deliveryFails?: boolean;
  readonly startFails?: boolean;
  readonly evidence?: 'any' | 'changes';
  /** What the agent says at its end; null where it says nothing. */
  readonly says?: AgentStatus | null;
  /** What stands in its file after each turn, and what it told through its tools; the last one repeats. */
  readonly writes?: readonly (AgentStatus | null)[];
  readonly tells?: readonly (AgentStatus | null)[];
  /** What the workspace looks like, look by look; the last one repeats. */
  readonly looks?: readonly string[];
  readonly scm?: ScmRecord;
  /** Where the run is told to stop, and why. */
  readonly stopped?: {
    readonly during: 'move' | 'turn' | 'state' | 'check' | 'evidence' | 'delivery';
    readonly reason: StopReason | 'lost';
  };
  /** The agent moves its issue through its tools, and does not wait for that. */
  readonly movesInTurn?: boolean;
  /** Every turn fails, and what follows from that. */
  readonly turnsFail?: Fault['consequence'];
  /** The service begins to stop when the agent has answered. */
  readonly stoppedAfterAnswer?: boolean;
  readonly hangs?: 'delivery' | 'move';
  /** Set where the branch is pushed for the agent. */
  readonly ownBranch?: string;
}

/** One run over adapters of plain values, and what became of it. */
async function play(scene: Scene) {
  const seen = {
    turns: 0,
    checks: 0,
    opened: 0,
    closed: 0,
    looks: 0,
    settled: 0,
    delivered: 0,
    afterRuns: 0,
    moves: [] as string[],
  };
  const writes = scene.writes ?? [scene.says === undefined ? { word: 'needs-human-review', statement: '' } : scene.says];
  const after = (words: readonly (AgentStatus | null)[]) => words[Math.min(seen.turns, words.length) - 1] ?? null;
  const reports: RunReport[] = [];
  const notices: Notice[] = [];
  const passes = scene.passes ?? [true];
  const selfReview = { maxIterations: scene.maxIterations ?? 3, verificationCommands: ['check'], verificationTimeoutMs: 1 };
  const settings = settingsWith({
    agent: { maxTurns: scene.maxTurns ?? 5, evidence: scene.evidence ?? 'any' },
    tracker: { inProgressState: scene.inProgressState ?? null },
    rest: { selfReview: { enabled: scene.passes !== undefined, ...selfReview } },
  });
  /** What goes on when the run is told to stop is cut where its signal says so. */
  const during = (what: string, signal: AbortSignal): void => {
    const reason = scene.stopped?.during === what ? scene.stopped.reason : null;
    if (reason === 'lost') runner.abandon('r', 'it was given to another');
    else if (reason !== null) runner.stop('r', reason);
    signal.throwIfAborted();
  };
  /** Ends with the tools. */
  const over = new AbortController();
  let moveByTool = (): Promise<void> => Promise.resolve();
  const adapters = {
    tracker: {
      fetchIssueById: () => Promise.resolve(issueWith({ id: '1', ...(scene.closedIn === 0 ? { isClosed: true } : {}) })),
      async transitionIssue(_id: string, state: string, signal: AbortSignal) {
        during('move', signal);
        if (scene.hangs === 'move') await once(signal, 'abort').then(() => signal.throwIfAborted());
        await delay(20, undefined, { signal });
        seen.moves.push(state);
      },
      async fetchIssueStatesByIds(_ids: readonly string[], signal: AbortSignal, closed?: Set<string>) {
        during('state', signal);
        if (scene.closedIn !== undefined && seen.turns >= scene.closedIn) closed?.add('1');
        return new Map([['1', scene.states?.[seen.turns - 1] ?? 'todo']]);
      },
    },
    agent: {
      startSession: () =>
        scene.startFails
          ? Promise.reject(new Error('no such program'))
          : Promise.resolve({
              sessionId: 's',
              hasTools: true,
              runTurn: async (_turn: unknown, _hear: unknown, signal: AbortSignal) => {
                seen.turns += 1;
                if (scene.movesInTurn) void moveByTool().catch(() => {});
                during('turn', signal);
                if (scene.stoppedAfterAnswer) runner.stop('r', 'shutdown');
                const consequence = scene.turnsFail;
                return consequence ? { ok: false, fault: { kind: 'turn_failed', message: 'exit 1', consequence } } : { ok: true };
              },
              stop: () => Promise.resolve(),
            }),
    },
    workspaces: {
      pathFor: async () => '/workspaces/T-1',
      prepare: () => Promise.resolve({ path: '/workspaces/T-1', created: true }),
      beforeRun: () => Promise.resolve(),
      requireOwn: () => (scene.lostAfter === seen.turns ? Promise.reject(new Error('is a symbolic link')) : Promise.resolve()),
      afterRun: async () => void (seen.afterRuns += 1),
      async deliver(_subject: unknown, signal: AbortSignal) {
        during('delivery', signal);
        if (scene.hangs === 'delivery') await once(signal, 'abort').then(() => signal.throwIfAborted());
        if (scene.deliveryFails) throw new Error('no such remote');
        seen.delivered += 1;
        return null;
      },
      readStatus: () => Promise.resolve(after(writes)),
      readScm: () => Promise.resolve(scene.scm ?? null),
      ownBranch: () => scene.ownBranch ?? null,
      workBefore: async () => scene.looks?.[seen.looks++] ?? '',
      async hasWorkSince(_subject: unknown, before: string, signal: AbortSignal) {
        during('evidence', signal);
        return (scene.looks?.[seen.looks++] ?? scene.looks?.at(-1)) !== before;
      },
      settleWork: async () => void (seen.settled += 1),
      async verify(_check: unknown, signal: AbortSignal) {
        seen.checks += 1;
        during('check', signal);
        return { ok: passes[seen.checks - 1] ?? passes.at(-1) ?? true, output: `look ${seen.checks}` };
      },
    },
    promptFor: () => 'work',
    tools: {
      open(_plan: RunPlan, tracker: Tracker) {
        seen.opened += 1;
        moveByTool = () => tracker.transitionIssue('1', 'doing', over.signal);
        return null;
      },
      statusOf: () => after(scene.tells ?? []),
      close() {
        seen.closed += 1;
        over.abort(new Error('the run is over'));
      },
      callsOf: () => null,
    },
  } as unknown as RunAdapters;
  const runner = createLocalRunner({ adaptersOf: () => adapters, killed: new AbortController().signal });
  const plan: RunPlan = {
    runId: 'r',
    issue: refOf(issueWith({ id: '1' })),
    attempt: 0,
    trigger: 'fresh',
    reaction: null,
    issueAsRead: null,
    resumeSessionId: null,
    holder: null,
    settings,
  };
  runner.start(plan, { report: (said) => void reports.push(said), announce: (notice) => void notices.push(notice) });
  await expect.poll(() => reports.at(-1)?.type).toBe('run-exited');
  const last = reports.at(-1);
  return { seen, reports, notices, exit: last?.type === 'run-exited' ? last.exit : null };
}

describe('a run on this machine', () => {
  it('says where its workspace will be before anything else', async () => {
    const { reports } = await play({});
    expect(reports[0]).toMatchObject({ type: 'workspace-chosen', workspacePath: '/workspaces/T-1' });
  });

  it.each([undefined, 'doing'])(
    'neither moves nor works on an issue that was closed since it was listed (in_progress_state: %s)',
    async (inProgressState) => {
      const { seen, reports, exit } = await play({ closedIn: 0, ...(inProgressState && { inProgressState }) });
      expect([seen.turns, seen.moves, exit?.kind]).toEqual([0, [], 'normal']);
      expect(reports.filter(({ type }) => type === 'state-seen').at(-1)).toMatchObject({ state: 'closed' });
    },
  );

  it('takes no further turn once somebody closed its issue, and says what it saw', async () => {
    const { seen, reports, exit } = await play({ says: null, closedIn: 2 });
    expect([seen.turns, exit?.kind]).toEqual([2, 'normal']);
    expect(reports.filter(({ type }) => type === 'state-seen').at(-1)).toMatchObject({ state: 'closed' });
  });

  it.each<[string, Scene]>([
    ['go on', { says: null }],
    ['mend', { passes: [false] }],
  ])('takes no further turn, to %s, where its workspace is no longer its own', async (_name, scene) => {
    const { seen, exit } = await play({ ...scene, lostAfter: 1 });
    expect(seen.turns).toBe(1);
    expect(exit).toMatchObject({ kind: 'error', turns: 1, fault: { message: 'is a symbolic link' } });
  });

  it('closes its tools also when the session does not start, and exits once', async () => {
    const { seen, reports, exit } = await play({ startFails: true });
    expect([seen.opened, seen.closed]).toEqual([1, 1]);
    expect(exit).toMatchObject({ kind: 'error', fault: { message: 'no such program' } });
    expect(reports.filter(({ type }) => type === 'run-exited')).toHaveLength(1);
  });
});

const scm = { branch: 'b', sha: 's', pushedAt: '', prNumber: 7, owner: 'o', repo: 'r' };

describe('a run that is told to stop', () => {
  const done: Scene = { maxTurns: 1, evidence: 'changes', looks: ['before', 'after'], passes: [true], says: null };

  it.each(['state', 'check', 'evidence', 'delivery'] as const)(
    'after its last turn (%s) hands over what is done where the service stops, and ends there for any other reason',
    async (what) => {
      const left = await play({ ...done, stopped: { during: what, reason: 'shutdown' } });
      expect(left.exit).toMatchObject({ kind: 'normal', turns: 1 });
      expect([left.seen.delivered, left.notices]).toEqual([1, []]);
      for (const reason of ['operator', 'terminal', 'lost'] as const) {
        const ended = await play({ ...done, stopped: { during: what, reason } });
        expect([ended.exit?.kind, ended.seen.delivered]).toEqual(['cancelled', 0]);
      }
    },
  );

  it.each<[string, Scene]>([
    ['in a turn', { ...done, stopped: { during: 'turn', reason: 'shutdown' } }],
    ['between two turns', { ...done, maxTurns: 2, stopped: { during: 'state', reason: 'shutdown' } }],
    ['before a turn that mends', { passes: [false], stopped: { during: 'check', reason: 'shutdown' } }],
  ])('%s where the service stops takes no further one and hands over nothing', async (_name, scene) => {
    const { exit, seen } = await play(scene);
    expect([exit?.kind, seen.turns, seen.delivered]).toEqual(['cancelled', 1, 0]);
  });
});

describe('a move of its issue that was begun when a run is told to stop', () => {
  it.each(['operator', 'token_budget', 'shutdown'] as const)('is made before the run has ended (%s)', async (reason) => {
    const { seen, reports, exit } = await play({ inProgressState: 'doing', stopped: { during: 'move', reason } });
    expect([seen.moves, seen.turns, exit?.kind]).toEqual([['doing'], 0, 'cancelled']);
    expect(reports.filter(({ type }) => type === 'state-seen').at(-1)).toMatchObject({ state: 'doing' });
  });

  it('is made also where the agent asked for it', async () => {
    const { seen, exit } = await play({ movesInTurn: true, stopped: { during: 'turn', reason: 'token_budget' } });
    expect([seen.moves, exit?.kind]).toEqual([['doing'], 'cancelled']);
  });
});

describe('a run that does not finish while the service stops', () => {
  it.each([
    ['delivery', 1],
    ['move', 0],
  ] as const)('is ended in time (%s)', { timeout: 15_000 }, async (hangs, turns) => {
    vi.useFakeTimers();
    try {
      const stopped = { during: hangs, reason: 'shutdown' } as const;
      const ended = play({ maxTurns: 1, says: null, stopped, hangs, ...(hangs === 'move' && { inProgressState: 'doing' }) });
      await vi.advanceTimersByTimeAsync(9_999);
      await vi.advanceTimersByTimeAsync(1);
      const { exit, seen } = await ended;
      expect([exit?.kind, exit?.turns, seen.afterRuns]).toEqual(['cancelled', turns, turns]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a turn that was done when the service began to stop', () => {
  it('is done, although its figures were still waited for', async () => {
    const { exit, seen } = await play({ maxTurns: 1, says: null, stoppedAfterAnswer: true });
    expect([exit?.kind, seen.delivered]).toEqual(['normal', 1]);
  });
});

describe('a turn that fails', () => {
  const blocked: AgentStatus = { word: 'blocked', statement: 'no access' };

  it('ends the run with the word blocked where the agent said so, and leaves the failure in its events', async () => {
    for (const said of [{ says: blocked }, { says: null, tells: [blocked] }]) {
      const { exit, seen, reports } = await play({ turnsFail: 'back-off', ...said });
      expect(exit).toMatchObject({ kind: 'normal', turns: 1, status: blocked, fault: null });
      expect([seen.turns, seen.delivered]).toEqual([1, 0]);
      expect(reports).toContainEqual(expect.objectContaining({ event: { type: 'notice', text: 'exit 1' } }));
    }
  });

  it.each<[string, Scene]>([
    ['without a word', { turnsFail: 'back-off', says: null }],
    ['with another word', { turnsFail: 'back-off' }],
    ['at a limit of the agent', { turnsFail: 'pause-agent', says: blocked }],
  ])('fails the run: %s', async (_name, scene) => {
    const { exit } = await play(scene);
    expect(exit).toMatchObject({ kind: 'error', turns: 0, status: null, fault: { message: 'exit 1' } });
  });

  it('is cancelled where the run was told to stop, whatever the agent said', async () => {
    const stopped = { during: 'turn', reason: 'operator' } as const;
    const { exit } = await play({ turnsFail: 'back-off', says: blocked, stopped });
    expect(exit).toMatchObject({ kind: 'cancelled', status: null });
  });
});

describe('a merge request that the agent names', () => {
  it.each<[string, Scene]>([
    ['of any branch where the agent pushes', {}],
    ['of the branch that is pushed for it', { ownBranch: 'b' }],
  ])('is handed on: %s', async (_name, scene) => {
    const { exit, notices } = await play({ ...scene, scm });
    expect([exit?.scm, notices]).toEqual([scm, []]);
  });

  it.each<AgentStatus['word']>(['needs-human-review', 'no-change-needed'])(
    'is left alone, aloud, where another branch is pushed for it (%s)',
    async (word) => {
      const { exit, notices } = await play({ scm, ownBranch: 'foray/T-1', says: { word, statement: '' } });
      expect(exit).toMatchObject({ kind: 'normal', scm: null });
      const why = `the issue's branch is "foray/T-1", .foray/scm.json says "b"`;
      expect(notices).toMatchObject([{ name: 'reaction:request:refused', facts: { owner: 'o', repo: 'r', number: 7, why } }]);
    },
  );
});

describe('agent.evidence: changes', () => {
  it.each<[string, Scene]>([
    ['without a change', {}],
    ['with a record of a request alone', { scm }],
    ['without a change and without a word', { says: null, maxTurns: 1 }],
  ])('fails a run %s', async (_name, scene) => {
    const { exit, seen } = await play({ ...scene, evidence: 'changes', looks: ['same'] });
    expect(exit).toMatchObject({ kind: 'error', fault: { kind: 'agent_no_evidence' } });
    expect(seen.settled).toBe(0);
  });

  it.each<[string, Scene]>([
    ['with a change', { looks: ['before', 'after'] }],
    ['whose agent says that there is none to make', { looks: ['same'], says: { word: 'no-change-needed', statement: 'fine' } }],
  ])('accepts a run %s', async (_name, scene) => {
    const { exit, seen } = await play({ ...scene, evidence: 'changes' });
    expect(exit).toMatchObject({ kind: 'normal' });
    expect(seen.settled).toBe(1);
  });

  it('still counts what a run did that could not hand it over', async () => {
    const { exit, seen } = await play({ looks: ['before', 'after'], evidence: 'changes', deliveryFails: true });
    expect([exit?.kind, seen.settled]).toEqual(['error', 0]);
  });

  it('is not asked for otherwise', async () => {
    const { exit, seen } = await play({ looks: ['same'] });
    expect([exit?.kind, seen.looks]).toEqual(['normal', 0]);
  });
});

describe('self_review', () => {
  it('verifies once more after the last turn that mends', async () => {
    const { seen, exit } = await play({ passes: [false, false, true], maxIterations: 2 });
    expect(seen).toMatchObject({ turns: 3, checks: 3 });
    expect(exit?.kind).toBe('normal');
  });

  it('fails the run when a command still fails', async () => {
    const { seen, exit } = await play({ passes: [false], maxIterations: 2 });
    expect(seen).toMatchObject({ turns: 3, checks: 3 });
    expect(exit).toMatchObject({ kind: 'error', fault: { kind: 'verification_failed', consequence: 'back-off' } });
  });

  it('takes no turn beyond agent.max_turns', async () => {
    const { seen, exit } = await play({ passes: [false], maxTurns: 1 });
    expect(seen).toMatchObject({ turns: 1, checks: 1 });
    expect(exit?.fault?.kind).toBe('verification_failed');
  });

  it('tells the output of every check that failed, also of the last one', async () => {
    const { reports, notices } = await play({ passes: [false], maxIterations: 1 });
    const failed = notices.flatMap((notice) => (notice.name === 'run:review:failed' ? [notice.facts] : []));
    expect(failed).toMatchObject([
      { command: 'check', output: 'look 1', isLast: false },
      { command: 'check', output: 'look 2', isLast: true },
    ]);
    const said = reports.flatMap((report) => (report.type === 'agent-spoke' ? [report.event] : []));
    expect(said).toEqual([
      { type: 'notice', text: 'verification failed: check\nlook 1' },
      { type: 'notice', text: 'verification failed: check\nlook 2' },
    ]);
  });

  const REVIEW = { word: 'needs-human-review', statement: 'first' } as const;
  const BLOCKED = { word: 'blocked', statement: 'cannot be mended' } as const;
  const NOTHING = { word: 'no-change-needed', statement: 'told' } as const;

  it.each<[string, Scene]>([
    ['writes', { writes: [REVIEW, BLOCKED] }],
    ['tells', { writes: [REVIEW], tells: [null, BLOCKED] }],
    ['writes after it told otherwise', { writes: [null, BLOCKED], tells: [REVIEW] }],
  ])('ends with the turn in which the agent %s that it is blocked', async (_name, scene) => {
    const { seen, exit } = await play({ ...scene, passes: [false] });
    expect(seen).toMatchObject({ turns: 2, checks: 1 });
    expect(exit).toMatchObject({ kind: 'normal', turns: 2, status: BLOCKED });
  });

  it.each<[string, Scene, AgentStatus]>([
    ['the one of a turn that mends', { writes: [REVIEW], tells: [null, NOTHING] }, NOTHING],
    ['the one that was written after another was told', { writes: [null, REVIEW], tells: [NOTHING] }, REVIEW],
    ['the first one where none follows', { writes: [REVIEW] }, REVIEW],
  ])('hands on the last word of the agent: %s', async (_name, scene, status) => {
    const { seen, exit } = await play({ ...scene, passes: [false, true] });
    expect(seen).toMatchObject({ turns: 2, checks: 2 });
    expect(exit).toMatchObject({ kind: 'normal', status });
  });

  it('stops when the issue left its active state', async () => {
    const { seen, exit } = await play({ passes: [false], states: ['todo', 'backlog'] });
    expect(seen).toMatchObject({ turns: 2, checks: 1 });
    expect(exit?.kind).toBe('normal');
  });
});
