import { createHash } from 'node:crypto';
import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { loadAgentKinds } from '../../agents/registry.ts';
import { secretsIn } from '../../agents/shared/run-environment.ts';
import type { Env } from '../../config/expand.ts';
import { hostName } from '../../domain/model/host-path.ts';
import { WORKER_STOPPED_MS } from '../../domain/model/lease-times.ts';
import { endGroup, endStrays, killStrays, type Marker } from '../../lib/process/index.ts';
import { assembled, type Releasers } from '../../lib/releasers.ts';
import type { ProcessLedger } from '../../ports/agent.ts';
import type { AgentKind } from '../../ports/agent-kind.ts';
import type { RunAdapters, ToolCalls } from '../../ports/runner.ts';
import type { ToolHost } from '../../mcp/host.ts';
import type { RunJob } from '../../ports/run-queue.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Workspaces } from '../../ports/workspace.ts';
import { createPrompt } from '../../prompt/prompt.ts';
import type { AskedOfLeader } from '../../runners/queue/worker/held-runs.ts';
import { startWorker, type RunningWorker } from '../../runners/queue/worker/index.ts';
import { createWorkspaces, type WorkspaceDeps } from '../../workspace/index.ts';
import { createCarriedDeliveries } from '../adapters/build-delivery.ts';
import { startGroupGuard } from '../processes/group-guard.ts';
import { combineLedgers } from '../daemon/own-store.ts';
import { createRootLocks } from '../daemon/root-locks.ts';
import { openToolHost } from '../adapters/run-tools.ts';
import { leaderClock } from './leader-clock.ts';
import { workerIdentity } from './worker-identity.ts';
import type { KnownSecrets } from '../secrets.ts';
import { errorText } from '../../lib/error-text.ts';

export interface WorkerOptions {
  readonly url: string;
  /** As it was called; null for the name of its host and its identity. */
  readonly name: string | null;
  readonly host: string;
  readonly slots: number;
  readonly labels: readonly string[];
  /** Where its workspaces are. */
  readonly root: string;
  readonly env: Env;
  readonly version: string;
  readonly logger: Logger;
  readonly secrets: KnownSecrets;
  /** Ends a start that is still under way. */
  readonly interrupted: AbortSignal;
}

/** Carried by every process of a worker, so that the next one on the same root finds those that a crash left. */
const WORKER_VARIABLE = 'FORAY_WORKER';
const LEFTOVER_GRACE_MS = 2_000;

/** A worker of this machine. What an earlier one on the same root left running is ended first. */
export async function openWorker(options: WorkerOptions): Promise<RunningWorker> {
  const onFault = (fault: unknown): void => options.logger.error('closing failed', { error: String(fault) });
  return assembled(onFault, (releasers) => assemble(options, releasers));
}

async function assemble(options: WorkerOptions, releasers: Releasers): Promise<RunningWorker> {
  const { url, slots, labels, root, version, logger } = options;
  const locks = createRootLocks({
    workflowPath: `worker ${options.name ?? options.host}`,
    database: 'that of its service',
    sharedRecords: null,
    rootKey: '--root',
  });
  await locks.take(root);
  releasers.push(locks.release);
  const id = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const mark: Marker = `${WORKER_VARIABLE}=${id}`;
  const tell = (pid: number): void => logger.warn('ending a process that an earlier run left behind', { pid });
  await endStrays(mark, LEFTOVER_GRACE_MS, tell);
  const { openWorkerConnection } = await import('../../store/postgres/worker-connection.ts');
  const identity = identityIn(root);
  const name = options.name ?? hostName(options.host, identity);
  const connection = await onceReached(options, () => openWorkerConnection(url, { name, identity, labels, slots, version }));
  releasers.push(() => connection.close());
  const owned = ownProcesses();
  const guard = startGroupGuard(WORKER_STOPPED_MS / 1_000, mark);
  releasers.push(guard.stop);
  const toolHost = await openToolHost({ logger, scope: `worker ${root}`, pidsOf: owned.pidsOf });
  releasers.push(() => toolHost.stop());
  const env = { ...definedOf(options.env), [WORKER_VARIABLE]: id };
  options.secrets.add(secretsIn(env));
  const processes = combineLedgers(guard, owned);
  const here: Here = {
    ...options,
    env,
    processes,
    toolHost,
    agentKinds: await loadAgentKinds(),
    deliveryOf: createCarriedDeliveries({ root, env, processes, logger }),
  };
  const worker = await onceReached(options, () =>
    startWorker({
      connection,
      logger,
      loadNow: () => os.loadavg()[0] ?? 0,
      adaptersFor: (job, asked) => adaptersFor(job, asked, here),
      remove: ({ removal, ...job }, signal) => workspacesFor(job, here).remove(removal, signal),
    }),
  );
  return {
    drain: worker.drain,
    kill() {
      worker.kill();
      for (const pid of owned.pids()) void endGroup(pid, { graceMs: 0 });
      killStrays(mark);
    },
    done: worker.done.finally(() => releasers.run()),
  };
}

function identityIn(root: string): string {
  try {
    return workerIdentity(root);
  } catch (error) {
    const why = errorText(error);
    throw new Error(`--root ${root} cannot be used (${why}): name a directory that this user may write to`, { cause: error });
  }
}

const AGAIN_MS = 1_000;

/** Waits for a server that does not answer yet. Other faults are the operator's to mend. */
async function onceReached<T>({ logger, interrupted }: WorkerOptions, work: () => Promise<T>): Promise<T> {
  const { isUnreachable } = await import('../../store/postgres/errors.ts');
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      if (tries % 10 === 0) logger.warn('waiting for the database', { error: errorText(error) });
      await delay(AGAIN_MS, undefined, { signal: interrupted });
    }
  }
}

/** The process groups of the runs here, by their leaders. */
function ownProcesses() {
  const owners = new Map<number, string>();
  return {
    started: (pid: number, owner: string): void => void owners.set(pid, owner),
    ended: (pid: number): void => void owners.delete(pid),
    pids: () => owners.keys(),
    pidsOf: (runId: string): number[] => [...owners].filter(([, owner]) => owner === runId).map(([pid]) => pid),
  };
}

interface Here extends Omit<WorkerOptions, 'env'> {
  readonly env: Readonly<Record<string, string>>;
  readonly processes: ProcessLedger;
  readonly toolHost: ToolHost;
  readonly agentKinds: readonly AgentKind[];
  readonly deliveryOf: ReturnType<typeof createCarriedDeliveries>;
}

function adaptersFor({ plan, template, markKey, repository, leaderNow }: RunJob, asked: AskedOfLeader, here: Here): RunAdapters {
  const { tracker, toolCalls, carrier } = asked;
  const { agent, agentOptions, workspace } = plan.settings;
  const { env, logger, processes, toolHost, agentKinds, secrets } = here;
  const kind = agentKinds.find((candidate) => candidate.kind === agent.kind);
  if (!kind) throw new Error(`unknown agent kind ${agent.kind}`);
  const delivery = repository && here.deliveryOf(repository, plan.issue.identifier, carrier);
  return {
    tracker,
    agent: kind.create(agent, agentOptions, { env, clock: leaderClock(leaderNow), logger, processes, secrets: secrets.values }),
    workspaces: workspacesFor({ markKey, removedDays: workspace.removedDays, delivery }, here),
    promptFor: createPrompt(template.body, template.line, agent),
    tools: { ...toolHost, open: (opened) => toolHost.open(opened, withoutSecrets(toolCalls, secrets)), callsOf: () => null },
  };
}

/** The daemon does not know the secrets of this machine: what it posts must not hold them. */
function withoutSecrets(calls: ToolCalls, { maskDeep }: KnownSecrets): ToolCalls {
  return { call: (name, args, signal) => calls.call(name, maskDeep(args), signal) };
}

function workspacesFor(job: Pick<WorkspaceDeps, 'markKey' | 'removedDays' | 'delivery'>, here: Here): Workspaces {
  const { root, env, logger, processes, secrets } = here;
  return createWorkspaces({ ...job, root, env, logger, processes, maskSecrets: secrets.mask });
}

function definedOf(env: Env): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
