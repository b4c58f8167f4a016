import { isRetired } from '../../domain/decide.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import type { Event } from '../../domain/model/event.ts';
import type { Issue } from '../../domain/model/issue.ts';
import type { Notice } from '../../domain/model/notice.ts';
import type { Settings } from '../../domain/model/settings.ts';
import { createOrdering } from '../../orchestrator/in-order.ts';
import { createInterpreter } from '../../orchestrator/interpret.ts';
import { createLoop, type Loop } from '../../orchestrator/loop.ts';
import type { SteadyClock, WritePermission } from '../../ports/runtime.ts';
import { createSshRunner } from '../../runners/ssh/index.ts';
import type { SshHosts } from '../../runners/ssh/hosts.ts';
import { chooseRunner } from '../../runners/choose-runner.ts';
import type { RunParts } from '../../runners/queue/leader/given-runs.ts';
import { createWholeMoves } from '../../runners/whole-moves.ts';
import type { QueueRunner } from '../../runners/queue/leader/index.ts';
import type { OwnStore } from './own-store.ts';
import { createQueueGate, type QueueGate } from '../leader/queue-gate.ts';
import { whileLeading } from '../leader/while-leading.ts';
import type { BuiltAdapters } from '../adapters/build-adapters.ts';
import { withCrashPoints } from './crash-points.ts';

/** A tracker with the loop, the records and the adapters that are its own. */
export interface WatchedTracker {
  readonly identity: string;
  readonly loop: Loop;
  adapters: BuiltAdapters;
  /** Those that each settings were made into: a run keeps the ones it began with. */
  readonly bySettings: WeakMap<object, BuiltAdapters>;
}

export interface WatchedTrackerDeps {
  readonly store: Pick<OwnStore, 'load' | 'apply' | 'spentOn' | 'endingElsewhere'>;
  readonly clock: SteadyClock;
  /** Looks at an event on its way to a loop: hides secrets in it. */
  readonly screen: (event: Event) => Event;
  /** Gives candidates what is kept and shown of them. */
  readonly showIssues: (issues: readonly Issue[]) => Promise<readonly Issue[]>;
  readonly onStoreFault: (fault: unknown, tries: number) => void;
  readonly killed: AbortSignal;
  readonly hosts: SshHosts;
  readonly queue: () => QueueRunner | null;
  /** How long runs that were under way must wait before they start again. */
  readonly resumeDelayMs: number;
  /** Asked before anything is done to the world; null where this daemon has its database alone. */
  readonly leading: WritePermission | null;
}

export interface WatchedTrackerContext {
  /** Prefix of run ids, unique to this loop. */
  readonly instance: string;
  /** When the service began. */
  readonly startedAt: number;
  readonly hear: (tracker: WatchedTracker, notice: Notice) => void;
  readonly findPreflightProblem: () => Promise<string | null>;
}

/** Makes the loop of a tracker, with what was stored of it. It does not run yet. */
export async function openWatchedTracker(
  adapters: BuiltAdapters,
  deps: WatchedTrackerDeps,
  { instance, startedAt, hear, findPreflightProblem }: WatchedTrackerContext,
): Promise<WatchedTracker> {
  const { settings } = adapters.workflow;
  const { identity } = settings.tracker;
  const { store, clock, screen, showIssues, onStoreFault, killed, resumeDelayMs, leading } = deps;
  const durable = await store.load(identity);
  const elsewhere = { delayMs: resumeDelayMs, endingElsewhere: await store.endingElsewhere(identity) };
  const order = createOrdering();
  const bySettings = new WeakMap<object, BuiltAdapters>();
  const own = (): BuiltAdapters => tracker.adapters;
  const builtFor = (ofRun: Settings): BuiltAdapters => bySettings.get(ofRun) ?? own();
  const gate = createQueueGate(() => tracker.loop.state());
  const interpret = createInterpreter({
    adapters: own,
    adaptersOf: builtFor,
    report(event) {
      const screened = screen(event);
      gate.hear(screened);
      tracker.loop.report(screened);
    },
    announce: (notice) => hear(tracker, notice),
    findPreflightProblem,
    spentOn: (issueIds) => store.spentOn(identity, issueIds),
    runner: createRunner(deps, builtFor, gate),
    inOrder: async (issues) => showIssues(await order(issues)),
    killed,
  });
  const loop = createLoop(
    settings,
    durable,
    instance,
    withCrashPoints({
      store: { apply: (writes) => store.apply(identity, writes) },
      clock,
      onStoreFault,
      elsewhere,
      startedAt,
      // A server comes back; a full disk needs a person, and a restart.
      ...(leading === null ? {} : { storePatienceMs: Infinity }),
      interpret: whileLeading(leading, interpret),
    }),
  );
  const tracker: WatchedTracker = { identity, loop, adapters, bySettings };
  return tracker;
}

/** A run that failed after its tracker was left waits for a retry that does not come: told when its loop is over. */
export function tellRetriesLeft({ loop, adapters }: WatchedTracker, announce: (notice: Notice) => void): void {
  const state = loop.state();
  const { claims, parked, outbox, watches, workspaces } = state;
  const retries = [...claims.values()].filter(({ phase }) => phase === 'waiting').length;
  if (retries === 0 || !isRetired(state)) return;
  const { label } = adapters.workflow.names;
  const others = { parked: parked.size, outbox: outbox.size, watches: watches.size, workspaces: workspaces.size };
  announce({ name: 'tracker:records:left', facts: { label, claims: claims.size - retries, retries, ...others } });
}

/** Runs go to workers, to other hosts or stay here, with the adapters of the settings they began with. */
function createRunner(
  { queue, hosts, killed }: WatchedTrackerDeps,
  builtFor: (ofRun: Settings) => BuiltAdapters,
  gate: QueueGate,
) {
  return chooseRunner({
    queue,
    partsOf: (plan) => ({ ...partsOf(plan, builtFor(plan.settings), killed), heldBack: () => gate.heldBack(plan) }),
    here: createSshRunner({
      hosts,
      adaptersOf: ({ settings }) => builtFor(settings),
      adaptersOn: ({ settings }, host) => ({ ...builtFor(settings), ...builtFor(settings).there.get(host) }),
      killed,
    }),
  });
}

/** What goes with a run to a worker, and what is done for it here. */
function partsOf(plan: RunPlan, built: BuiltAdapters, killed: AbortSignal): Omit<RunParts, 'heldBack'> {
  const { tools, workflow, carrierFor } = built;
  const { repo } = workflow.settings.workspace;
  const { tracker, isMoving } = createWholeMoves(built.tracker, killed);
  return {
    tracker,
    isMoving,
    tools: tools.callsOf(plan, tracker),
    carrier: carrierFor?.(plan) ?? null,
    template: { body: workflow.body, line: workflow.bodyLine },
    repository: repo && {
      url: repo.url,
      push: repo.push,
      project: { owner: repo.owner, repo: repo.name },
      opensRequests: repo.connection !== null,
    },
  };
}
