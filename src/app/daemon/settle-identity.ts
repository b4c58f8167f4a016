import { identityOf } from '../../config/identity.ts';
import { crashPoint } from '../../lib/crash-point.ts';
import type { ProviderFacts } from '../../ports/provider.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Store, TrackerNames } from '../../ports/store.ts';
import type { ProjectFacts } from '../../ports/tracker.ts';
import { PROVIDER_FACTS } from '../../providers/facts.ts';
import type { BuiltAdapters } from '../adapters/build-adapters.ts';
import { ANYONE_MAY_START, ANYONE_REMEDY, publicProblem } from '../adapters/public-project.ts';

/** Gives the adapters the identity that the database knows this tracker by. */
export async function withStoredIdentity(built: BuiltAdapters, store: Pick<Store, 'identityOf'>): Promise<BuiltAdapters> {
  const configured = built.configured.tracker.identity;
  const identity = await store.identityOf(configured);
  return renamed(built, { identity, configured, label: configured });
}

/**
 * The same project may be configured by several names: where the remote says by which id it knows the project, the names
 * that lead to one id are one tracker. Asked after the preflight.
 */
export async function settleIdentity(
  built: BuiltAdapters,
  store: Pick<Store, 'identityOf' | 'nameTracker'>,
  signal: AbortSignal,
): Promise<BuiltAdapters> {
  const project = (await built.tracker.describeProject?.(signal)) ?? null;
  const told = withWarning(built, project);
  if (project === null || project.id === null) return told;
  const { kind, endpoint } = built.configured.tracker;
  const { names } = built.workflow;
  crashPoint('before naming the tracker');
  const identity = await store.nameTracker(`${identityOf(kind, endpoint, project.id)} (id)`, names.identity);
  crashPoint('after naming the tracker');
  return renamed(told, { ...names, identity });
}

/** What the remote says of the project may be worth a warning beside those of the file. */
function withWarning(built: BuiltAdapters, project: ProjectFacts | null): BuiltAdapters {
  const { workflow } = built;
  const warning = publicProblem(workflow.settings.tracker, factsOf(workflow.settings.tracker.kind), project);
  if (warning === null) return built;
  return { ...built, isOpenToAnyone: true, workflow: { ...workflow, problems: [...workflow.problems, warning] } };
}

function factsOf(kind: string): Partial<ProviderFacts> {
  return PROVIDER_FACTS.find((facts) => facts.kind === kind) ?? {};
}

/** Says at start what only the remote could tell. */
export function tellIfPublic({ workflow, isOpenToAnyone = false }: BuiltAdapters, logger: Logger): void {
  const { kind, project } = workflow.settings.tracker;
  if (isOpenToAnyone) logger.warn(ANYONE_MAY_START, { tracker_kind: kind, project, remedy: ANYONE_REMEDY });
}

function renamed(built: BuiltAdapters, names: TrackerNames): BuiltAdapters {
  const { settings } = built.workflow;
  const tracker = { ...settings.tracker, identity: names.identity };
  return { ...built, identity: names.identity, workflow: { ...built.workflow, settings: { ...settings, tracker }, names } };
}
