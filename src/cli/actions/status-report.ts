import { isStop, lastPollSince, troublesSince, type LastPoll, type Trouble } from '../../app/pages/chronicle.ts';
import { recordedState } from '../../app/commands/recorded-state.ts';
import { NO_COST, type CostSum } from '../../domain/model/cost.ts';
import type { HandoffClaim, RunningClaim, WaitingClaim } from '../../domain/model/claim.ts';
import { NOTHING_DURABLE, type Durable } from '../../domain/model/durable.ts';
import type { HoldVerdict } from '../../domain/model/hold.ts';
import { shownHostOf } from '../../domain/model/host-path.ts';
import type { Run } from '../../domain/model/run.ts';
import { waitingHold } from '../../domain/rules/eligibility.ts';
import type { LifetimeTotals } from '../../ports/store.ts';
import { shownName, waitIn } from '../../runners/queue/leader/known-workers.ts';
import type { Fleet } from '../../store/postgres/index.ts';
import type { ReadWorkflow } from '../reading.ts';

interface RunningIssue {
  readonly claim: RunningClaim | HandoffClaim;
  readonly run: Run | null;
  /** Null for the machine of the service. */
  readonly host: string | null;
  /** What it waits for in the queue of the workers; null for one that was given to one of them, or runs elsewhere. */
  readonly waits: string | null;
}

interface WaitingIssue {
  readonly claim: WaitingClaim;
  /** What the running service keeps it back for besides its time. */
  readonly held: HoldVerdict | null;
}

/** All that `status` tells. */
export interface Report {
  readonly reading: ReadWorkflow;
  readonly durable: Durable;
  readonly running: readonly RunningIssue[];
  readonly waiting: readonly WaitingIssue[];
  readonly isStopping: boolean;
  readonly troubles: readonly Trouble[];
  /** The last poll that was answered; null where no service is at work on the file, or has polled yet. */
  readonly lastPoll: LastPoll | null;
  readonly totals: Pick<LifetimeTotals, 'runs' | 'totalTokens' | 'seconds' | keyof CostSum>;
}

const NO_TOTALS = { runs: 0, totalTokens: 0, seconds: 0, ...NO_COST };

export async function gather(reading: ReadWorkflow): Promise<Report> {
  const { records } = reading;
  const durable = (await records?.load()) ?? NOTHING_DURABLE;
  const held = durable.claims.filter((claim) => claim.phase !== 'waiting');
  const fleet = held.length === 0 ? null : ((await records?.fleet()) ?? null);
  const agent = reading.loaded.settings?.agent ?? null;
  const waitOf = waitIn(fleet, { agent, pauses: durable, version: FORAY_VERSION });
  const running = await Promise.all(
    held.map(async (claim) => {
      const runId = claim.phase === 'running' ? claim.runId : claim.handoff.runId;
      const waits = claim.phase === 'running' ? waitOf(runId) : null;
      const host = waits === null ? (workerOf(runId, fleet) ?? hostOf(claim, durable)) : null;
      return { claim, run: (await records?.findRun(runId))?.run ?? null, host, waits };
    }),
  );
  // Of a service that has ended, or watches another file, nobody needs to know what kept it back.
  const daemon = records?.otherFile === null ? records.daemon : null;
  const told = records && daemon ? await troublesSince(daemon.startedAt, records) : [];
  const lastPoll = records && daemon && (await lastPollSince(daemon.startedAt, records));
  const [isStopping, troubles] = [told.some(isStop), told.filter((trouble) => !isStop(trouble))];
  const waiting = await gatherWaiting(reading, durable, troubles);
  const totals = (await records?.totals()) ?? NO_TOTALS;
  return { reading, durable, running, waiting, isStopping, troubles, lastPoll, totals };
}

async function gatherWaiting(
  { records, loaded }: ReadWorkflow,
  durable: Durable,
  troubles: readonly Trouble[],
): Promise<readonly WaitingIssue[]> {
  const claims = durable.claims.filter((claim) => claim.phase === 'waiting').toSorted((a, b) => a.dueAt - b.dueAt);
  if (!records?.daemon || records.otherFile !== null || claims.length === 0)
    return claims.map((claim) => ({ claim, held: null }));
  const now = Date.now();
  const recorded = recordedState(durable, { settings: loaded.settings, endingElsewhere: await records.endingElsewhere(), now });
  const preflightProblem = troubles.find(({ what }) => what === 'preflight')?.text ?? null;
  const state = { ...recorded, preflightProblem };
  return claims.map((claim) => ({ claim, held: waitingHold({ state, now }, claim) }));
}

/** The worker that a run was given to, from the first moment on. */
function workerOf(runId: string, fleet: Fleet | null): string | null {
  const holder = fleet?.holders.get(runId);
  const worker = fleet?.workers.find(({ id }) => id === holder);
  return worker === undefined || fleet === null ? null : shownName(worker, fleet.workers);
}

/** Where its workspace is; null for the machine of the service. */
function hostOf({ issue }: RunningClaim | HandoffClaim, { workspaces }: Durable): string | null {
  const own = workspaces.filter(({ issueId }) => issueId === issue.id);
  const [last] = own.toSorted((a, b) => b.lastUsedAt - a.lastUsedAt);
  return last === undefined ? null : shownHostOf(last.path);
}
