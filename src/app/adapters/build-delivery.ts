import path from 'node:path';
import type { RunPlan } from '../../domain/model/effect.ts';
import { createCarriedRemote, createRepository, createSequence, type Exclusively } from '../../git/index.ts';
import type { Carrier } from '../../ports/carrier.ts';
import type { ProcessLedger } from '../../ports/agent.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { CarriedRepository } from '../../ports/run-queue.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { RequestFinder } from '../../ports/scm.ts';
import { loadProvider } from '../../providers/registry.ts';
import { createBegunRequests, NONE_BEGUN } from '../../workspace/begun-requests.ts';
import { createCarrier, type OwnCarrier } from '../../workspace/carrier.ts';
import { branchOf } from '../../workspace/branch-name.ts';
import { createDelivery, type Delivery, type DeliveryDeps } from '../../workspace/delivery.ts';
import type { AdapterDeps } from './adapter-deps.ts';
import type { GoodWorkflow } from '../workflow.ts';

/** A name beside the workspaces that no identifier maps to. */
const REPOSITORIES = '+repositories';
/** The first clone of a large repository takes its time. */
const GIT_TIMEOUT_MS = 600_000;

export interface BuiltDelivery {
  /** For runs on this machine. */
  readonly delivery: Delivery | null;
  /** For a run on another one. */
  readonly carrierFor: ((plan: RunPlan) => OwnCarrier) | null;
}

/** The way from `workspace.repo` to a merge request; null where hooks fill the workspaces. */
export async function buildDelivery(workflow: GoodWorkflow, forge: ProviderDeps, deps: AdapterDeps): Promise<BuiltDelivery> {
  const { root, repo } = workflow.settings.workspace;
  if (repo === null) return { delivery: null, carrierFor: null };
  const { clock, logger, env, processes } = deps;
  const { mayWrite } = forge;
  const { url, token, baseBranch, push, connection } = repo;
  const folder = path.join(root, REPOSITORIES);
  const opener = connection && (await loadProvider(connection.kind)).createRequests?.(connection, forge);
  const settings = { url, folder, token, baseBranch, timeoutMs: GIT_TIMEOUT_MS };
  const repository = createRepository(settings, { env, processes, ...(mayWrite && { mayWrite }) });
  const project = { owner: repo.owner, repo: repo.name };
  const parts: DeliveryDeps = {
    repository,
    push,
    opener: opener ?? null,
    begun: opener ? createBegunRequests({ repository, opener, project }) : NONE_BEGUN,
    project,
    clock,
    logger,
  };
  return {
    delivery: createDelivery(parts),
    carrierFor: (plan) => createCarrier(parts, subjectOf(plan), plan.runId),
  };
}

function subjectOf({ issue, attempt, settings }: RunPlan) {
  const { id: issueId, identifier, title } = issue;
  return { tracker: settings.tracker.identity, issueId, identifier, title, attempt, hooks: settings.hooks };
}

export interface CarriedDeliveryDeps {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly processes: ProcessLedger;
  readonly logger: Logger;
}

/** The same on a worker, where the service reaches the remote. What runs there share the clone. */
export function createCarriedDeliveries({ root, env, processes, logger }: CarriedDeliveryDeps) {
  const sequences = new Map<string, Exclusively>();
  const folder = path.join(root, REPOSITORIES);
  return ({ url, push, project, opensRequests }: CarriedRepository, identifier: string, carrier: Carrier): Delivery => {
    const exclusively = sequences.get(url) ?? createSequence();
    sequences.set(url, exclusively);
    const remote = createCarriedRemote(carrier, branchOf(identifier));
    const settings = { url, folder, token: null, baseBranch: null, timeoutMs: GIT_TIMEOUT_MS };
    const repository = createRepository(settings, { env, processes, remote, exclusively });
    const clock = { now: Date.now };
    const opener = opensRequests ? openerOf(carrier) : null;
    // The service knows which requests were open.
    return createDelivery({ repository, push, project, clock, logger, opener, begun: NONE_BEGUN });
  };
}

/** The service finds or opens the request in one step: there is always one to be found. */
function openerOf(carrier: Carrier): RequestFinder {
  return {
    kind: 'carried',
    find: (_source, signal) => carrier.propose(signal),
    open: () => Promise.reject(new Error('a worker opens no merge request')),
  };
}
