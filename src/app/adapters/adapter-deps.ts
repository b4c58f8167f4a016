import type { Env } from '../../config/expand.ts';
import type { AgentDeps, ProcessLedger } from '../../ports/agent.ts';
import type { TellRetry } from '../../ports/provider.ts';
import type { RunTools } from '../../ports/runner.ts';
import type { Clock, Logger, WritePermission } from '../../ports/runtime.ts';
import type { QueueRunner } from '../../runners/queue/leader/index.ts';
import type { SshHosts } from '../../runners/ssh/hosts.ts';
import type { TellSilence } from './check-tracker.ts';
import type { OperationMeter } from './request-meter.ts';
import type { KnownSecrets } from '../secrets.ts';
import type { GoodWorkflow } from '../workflow.ts';

/** What adapters are built with besides the workflow. */
export interface AdapterDeps {
  readonly version: string;
  readonly env: Env;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly secrets: KnownSecrets;
  readonly processes: ProcessLedger;
  readonly costRecorded?: AgentDeps['costRecorded'];
  readonly meter: OperationMeter;
  /** Hears that the tracker takes long to answer; absent where records are enough. */
  readonly tellSilence?: TellSilence;
  /** Hears of each failure that is tried again at start; absent where records are enough. */
  readonly tellRetry?: TellRetry;
  readonly tools: RunTools;
  /** Where the HTTP server listens, or null. */
  readonly servedAt: () => string | null;
  /** What marks of workspaces are signed with. */
  readonly markKey: string;
  readonly hosts: SshHosts;
  /** Absent or null where there are no workers. */
  readonly workers?: () => Pick<QueueRunner, 'problemOf'> | null;
  /** Has a worker remove a workspace, also where runs go to none; absent where there can be none. */
  readonly removeOnWorker?: QueueRunner['remove'];
  /** Asked before anything is written to a remote; absent where this daemon has its database alone. */
  readonly leading?: WritePermission | null;
}

/**
 * What agents inherit: everything but the variables that the workflow file reads for the tracker, and those that lead to the
 * files they may be read from. Where we push by SSH ourselves, the SSH agent is not theirs either.
 */
export function agentEnv(
  { settings, secretVariables }: Pick<GoodWorkflow, 'settings' | 'secretVariables'>,
  env: Env,
): Readonly<Record<string, string>> {
  const files = ['CREDENTIALS_DIRECTORY', ...secretVariables.map((name) => `${name}_FILE`)];
  const hidden = new Set([...secretVariables, ...files, ...(settings.workspace.repo?.push === true ? ['SSH_AUTH_SOCK'] : [])]);
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && !hidden.has(entry[0])),
  );
}
