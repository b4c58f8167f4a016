import { isDeepStrictEqual } from 'node:util';
import { loadAgentKind } from '../../agents/registry.ts';
import { secretsIn } from '../../agents/shared/run-environment.ts';
import { countRequests } from '../../orchestrator/counted-tracker.ts';
import type { Adapters } from '../../orchestrator/effect-deps.ts';
import type { Notifier } from '../../ports/events.ts';
import { createForge } from '../../orchestrator/reactions/forge.ts';
import { environmentOf, hideFromEnvironment } from '../../lib/process/index.ts';
import { createNotifier } from '../../notify/index.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { Logger, WritePermission } from '../../ports/runtime.ts';
import type { Workspaces } from '../../ports/workspace.ts';
import { WorkspaceError } from '../../domain/model/errors.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import type { Settings } from '../../domain/model/settings.ts';
import { createPrompt } from '../../prompt/prompt.ts';
import { loadProvider } from '../../providers/registry.ts';
import type { OwnCarrier } from '../../workspace/carrier.ts';
import { createWorkspaces } from '../../workspace/index.ts';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { agentEnv, type AdapterDeps } from './adapter-deps.ts';
import { providerDeps } from './board.ts';
import type { BuiltDelivery } from './build-delivery.ts';
import type { HostAdapters } from './build-hosts.ts';
import { createWorkspacesOfHosts, createWorkspacesOfWorkers, type RemoveOn } from '../../workspace/remote/all-hosts.ts';
import { checkBeforePolls, silenceTo, tellSlowPolls } from './check-tracker.ts';
import { placedCommand } from './placed-command.ts';
import { screenPeople } from '../../orchestrator/screened-tracker.ts';
import type { GoodWorkflow } from '../workflow.ts';

/** The adapters and the workflow they were built from. */
export interface BuiltAdapters extends Adapters {
  /** The settings as the file alone gives them, without what the tracker said of itself. */
  readonly configured: Settings;
  readonly workflow: GoodWorkflow;
  /** What works on each host of `worker.ssh_hosts`. */
  readonly there: ReadonlyMap<string, HostAdapters>;
  /** Reaches the repository for a run on a worker; null where hooks fill the workspaces. */
  readonly carrierFor: ((plan: RunPlan) => OwnCarrier) | null;
  /** The remote said so of the project, once it was asked. */
  readonly isOpenToAnyone?: boolean;
}

/**
 * Builds the adapters a workflow asks for, keeping those whose settings did not change. Only what it asks for is loaded:
 * one tracker kind, one agent kind, and the ways to a repository and to other hosts where there are any.
 */
export async function buildAdapters(
  edited: GoodWorkflow,
  deps: AdapterDeps,
  before: BuiltAdapters | null,
): Promise<BuiltAdapters> {
  const workflow = keepHiddenVariables(before, edited);
  deps.secrets.add(workflow.secrets);
  hideCredentials(workflow, deps.logger);
  const { settings } = workflow;
  const old = before?.workflow.settings;
  const sameTracker = before !== null && isDeepStrictEqual(before.configured.tracker, settings.tracker);
  const sameAgent = before !== null && isDeepStrictEqual(agentPartsOf(before.workflow), agentPartsOf(workflow));
  const sameForge = before !== null && isDeepStrictEqual(old?.reactions.connection, settings.reactions.connection);
  const { delivery, carrierFor } = await deliveryOf(workflow, deps);
  const workspaces = createWorkspaces({
    root: settings.workspace.root,
    removedDays: settings.workspace.removedDays,
    markKey: deps.markKey,
    env: deps.env,
    user: settings.agent.user,
    logger: deps.logger,
    processes: deps.processes,
    delivery,
    maskSecrets: deps.secrets.mask,
  });
  const there = await hostsOf(workflow, deps);
  return {
    workflow,
    configured: settings,
    identity: settings.tracker.identity,
    tracker: sameTracker ? before.tracker : await buildTracker(workflow, deps),
    agent: sameAgent && isHere(settings) && isHere(before.configured) ? before.agent : await buildAgentAnywhere(workflow, deps),
    workspaces: everywhere(workspaces, there, settings, deps),
    there,
    carrierFor,
    hooks: settings.hooks,
    forge: sameForge ? before.forge : await buildForge(workflow, deps),
    notifier: buildNotifier(workflow, deps),
    promptFor: createPrompt(workflow.body, workflow.bodyLine, settings.agent),
    tools: deps.tools,
  };
}

/** Whether an edit of the workflow file changed neither a setting nor the prompt. */
export function saysTheSame(before: BuiltAdapters, after: BuiltAdapters): boolean {
  return before.workflow.body === after.workflow.body && isDeepStrictEqual(before.configured, after.configured);
}

/** What was a secret before an edit still is one: agents do not inherit it from then on either. */
function keepHiddenVariables(before: BuiltAdapters | null, edited: GoodWorkflow): GoodWorkflow {
  if (before === null) return edited;
  const { secretVariables } = before.workflow;
  return { ...edited, secretVariables: [...new Set([...secretVariables, ...edited.secretVariables])] };
}

/** All that an agent is made of. */
function agentPartsOf({ settings, secretVariables }: GoodWorkflow): readonly unknown[] {
  const { agent, agentOptions, workspace } = settings;
  return [agent, agentOptions, secretVariables, workspace.repo?.push];
}

async function deliveryOf(workflow: GoodWorkflow, deps: AdapterDeps): Promise<BuiltDelivery> {
  if (workflow.settings.workspace.repo === null) return { delivery: null, carrierFor: null };
  const { buildDelivery } = await import('./build-delivery.ts');
  return buildDelivery(workflow, serviceDeps(workflow, deps), deps);
}

async function hostsOf(workflow: GoodWorkflow, deps: AdapterDeps): Promise<BuiltAdapters['there']> {
  if (workflow.settings.worker.sshHosts.length === 0) return new Map();
  const { buildHosts } = await import('./build-hosts.ts');
  return buildHosts(workflow, deps);
}

/** The workspaces wherever runs of this workflow leave them, or left them before it was edited. */
function everywhere(
  here: Workspaces,
  there: ReadonlyMap<string, HostAdapters>,
  { workspace }: Settings,
  { removeOnWorker }: AdapterDeps,
): Workspaces {
  const removeOn: RemoveOn = async (host, subject, signal) => {
    if (removeOnWorker) return removeOnWorker(host, subject, workspace.removedDays, signal);
    const detail = `the host ${host}, which holds the workspace of ${subject.identifier}, is not in worker.ssh_hosts any more`;
    throw new WorkspaceError('remove', detail, { retryable: true });
  };
  if (there.size === 0) return createWorkspacesOfWorkers(here, removeOn);
  const places = new Map([...there].map(([name, { workspaces }]) => [name, workspaces]));
  return createWorkspacesOfHosts(here, places, removeOn);
}

/** Whether agents run on this machine. */
function isHere({ worker, agent }: Settings): boolean {
  return worker.sshHosts.length === 0 && agent.runOn === null;
}

/** What was read is ours alone: agents and hooks of the same user could look at this process's environment. */
function hideCredentials({ secretVariables }: GoodWorkflow, logger: Logger): void {
  const visible = hideFromEnvironment(secretVariables);
  if (visible.length === 0) return;
  logger.warn('agents can read credentials in the environment of this process', { variables: visible.join(', ') });
}

/** The tracker alone, for reads that need nothing else. */
async function buildTracker(
  workflow: GoodWorkflow,
  deps: Omit<AdapterDeps, 'processes' | 'env' | 'secrets' | 'tools' | 'hosts' | 'servedAt'>,
): Promise<Adapters['tracker']> {
  const { tracker } = workflow.settings;
  const provider = await loadProvider(tracker.kind);
  const { clock, logger } = deps;
  const built = provider.createTracker(tracker, serviceDeps(workflow, deps));
  const screened = screenPeople(countRequests(built, deps.meter.during), {
    settings: tracker,
    tellsCollaborators: provider.tellsCollaborators === true,
    clock,
    logger,
    digest: (text) => createHash('sha256').update(text).digest('hex'),
  });
  return built.isLocal ? screened : checkBeforePolls(tellSlowPolls(screened, deps.tellSilence ?? silenceTo(logger)));
}

async function buildForge(workflow: GoodWorkflow, deps: AdapterDeps): Promise<Adapters['forge']> {
  const { connection } = workflow.settings.reactions;
  if (connection === null) return null;
  const provider = await loadProvider(connection.kind);
  if (!provider.createScm || !provider.createCi) throw new Error(`tracker kind ${connection.kind} has no merge requests`);
  const shared = serviceDeps(workflow, deps);
  return createForge(provider.createScm(connection, shared), provider.createCi(connection, shared), shared.clock);
}

/** What a provider works with in a service, which is told of retries and may lose its leave to write. */
function serviceDeps(
  { path: file }: GoodWorkflow,
  deps: Pick<AdapterDeps, 'version' | 'clock' | 'logger' | 'meter' | 'tellRetry' | 'leading'>,
): ProviderDeps {
  const { tellRetry, leading = null } = deps;
  return { ...providerDeps(file, deps), ...(tellRetry ? { tellRetry } : {}), ...asking(leading) };
}

/** Every write to the world outside is asked for right before it leaves: a daemon that slept meanwhile may not lead any more. */
function asking(leading: WritePermission | null): Pick<ProviderDeps, 'mayWrite'> {
  return leading === null ? {} : { mayWrite: leading };
}

function buildNotifier({ settings }: GoodWorkflow, { version, clock, secrets, servedAt, leading = null }: AdapterDeps): Notifier {
  const dashboard = (): string | null => settings.server.publicUrl ?? servedAt();
  return createNotifier(settings.notifications, { version, clock, dashboard, maskSecrets: secrets.mask, ...asking(leading) });
}

/** Where it runs elsewhere, what it needs is looked for there. */
async function buildAgentAnywhere(workflow: GoodWorkflow, deps: AdapterDeps): Promise<Adapters['agent']> {
  const agent = await buildAgent(workflow, deps);
  return isHere(workflow.settings) ? agent : (await import('./build-hosts.ts')).withHosts(agent, workflow, deps);
}

async function buildAgent(workflow: GoodWorkflow, deps: AdapterDeps): Promise<Adapters['agent']> {
  const { agent, agentOptions } = workflow.settings;
  const kind = await loadAgentKind(agent.kind);
  const { clock, logger, processes, secrets, costRecorded } = deps;
  const inherited = agentEnv(workflow, deps.env);
  const { user } = agent;
  const env = user ? environmentOf(user, inherited) : inherited;
  // An agent repeats them in more places than its events: its statement, the comments it writes.
  secrets.add(secretsIn(env));
  const placed = { ...agent, command: placedCommand(agent.command, path.dirname(workflow.path), env['HOME']) };
  const given = { env, user, clock, logger, processes, secrets: secrets.values };
  return kind.create(placed, agentOptions, { ...given, ...(costRecorded && { costRecorded }) });
}
