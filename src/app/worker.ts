import { createHash } from 'node:crypto';
import os from 'node:os';
import { AGENT_KINDS } from '../agents/registry.ts';
import type { Env } from '../config/expand.ts';
import { endGroup, endStrays } from '../lib/process/index.ts';
import type { ProcessLedger } from '../ports/agent.ts';
import type { RunAdapters } from '../ports/runner.ts';
import type { RunJob } from '../ports/run-queue.ts';
import type { Logger } from '../ports/runtime.ts';
import type { Tracker } from '../ports/tracker.ts';
import { createPrompt } from '../prompt/prompt.ts';
import { startWorker, type RunningWorker } from '../runners/queue/worker.ts';
import { createWorkspaces } from '../workspace/index.ts';
import { startGroupGuard } from './group-guard.ts';
import { bothHear } from './own-store.ts';
import { createRootLocks } from './root-locks.ts';
import { NO_RUN_TOOLS } from './run-tools.ts';
import type { KnownSecrets } from './secrets.ts';

export interface WorkerOptions {
  readonly url: string;
  readonly name: string;
  readonly slots: number;
  readonly labels: readonly string[];
  /** Where its workspaces are. */
  readonly root: string;
  readonly env: Env;
  readonly version: string;
  readonly logger: Logger;
  readonly secrets: KnownSecrets;
}

/** Carried by every process of a worker, so that the next one on the same root finds those that a crash left. */
const WORKER_VARIABLE = 'FORAY_WORKER';
const LEFTOVER_GRACE_MS = 2_000;
/** A worker that is stopped is lost after 30 s, and its runs are given to others: its agents end before that. */
const SILENT_SECONDS = 20;

/** A worker of this machine. What an earlier one on the same root left running is ended first. */
export async function openWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { url, name, slots, labels, root, version, logger } = options;
  const locks = createRootLocks({ workflowPath: `worker ${name}`, database: 'that of its service', isShared: false });
  await locks.take(root);
  const mark = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const tell = (pid: number): void => logger.warn('ending a process that an earlier run left behind', { pid });
  await endStrays(`${WORKER_VARIABLE}=${mark}`, LEFTOVER_GRACE_MS, tell);
  const groups = new Set<number>();
  const processes: ProcessLedger = { started: (pid) => void groups.add(pid), ended: (pid) => void groups.delete(pid) };
  const env = { ...definedOf(options.env), [WORKER_VARIABLE]: mark };
  const guard = startGroupGuard(SILENT_SECONDS);
  const { openWorkerSeat } = await import('../store/postgres/worker-seat.ts');
  const seat = await openWorkerSeat(url, { name, labels, slots, version });
  const worker = await startWorker({
    seat,
    logger,
    loadNow: () => os.loadavg()[0] ?? 0,
    adaptersFor: (job, tracker) => adaptersFor(job, tracker, { ...options, env, processes: bothHear(guard, processes) }),
  });
  return {
    drain: worker.drain,
    kill() {
      worker.kill();
      for (const pid of groups) void endGroup(pid, { graceMs: 0 });
    },
    done: worker.done.finally(() => {
      guard.stop();
      locks.release();
    }),
  };
}

interface Here extends Omit<WorkerOptions, 'env'> {
  readonly env: Readonly<Record<string, string>>;
  readonly processes: ProcessLedger;
}

function adaptersFor({ plan, template, markKey }: RunJob, tracker: Tracker, here: Here): RunAdapters {
  const { agent, agentOptions, workspace } = plan.settings;
  const { root, env, logger, processes, secrets } = here;
  const kind = AGENT_KINDS.find((candidate) => candidate.kind === agent.kind);
  if (!kind) throw new Error(`unknown agent kind ${agent.kind}`);
  const { removedDays } = workspace;
  return {
    tracker,
    agent: kind.create(agent, agentOptions, { env, clock: { now: Date.now }, logger, processes }),
    workspaces: createWorkspaces({ root, removedDays, markKey, env, logger, processes, maskSecrets: secrets.mask }),
    promptFor: createPrompt(template.body, template.line, agent),
    tools: NO_RUN_TOOLS,
  };
}

function definedOf(env: Env): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
