import type { Durable, Write } from '../../src/domain/model/durable.ts';
import { mayRun } from '../../src/domain/events/spent.ts';
import type { State } from '../../src/domain/model/state.ts';

/** What a perfect store would hold, as maps; it stands in for the disk that survives a crash. */
export interface DurableModel {
  readonly claims: Map<string, Durable['claims'][number]>;
  readonly parked: Map<string, Durable['parked'][number]>;
  readonly outbox: Map<string, Durable['outbox'][number]>;
  readonly workspaces: Map<string, Durable['workspaces'][number]>;
  readonly spent: Map<string, Durable['spent'][number]>;
  readonly pauses: Map<string, Durable['pauses'][number]>;
  readonly watches: Map<string, Durable['watches'][number]>;
  readonly approvals: Map<string, Durable['approvals'][number]>;
  readonly told: Map<string, Durable['told'][number]>;
  operatorPause: Durable['operatorPause'];
}

/** What a store keeps of the service itself, whatever tracker is watched: pauses of agents, that of an operator, and what was told. */
export interface ServiceModel {
  readonly pauses: DurableModel['pauses'];
  readonly told: DurableModel['told'];
  operatorPause: DurableModel['operatorPause'];
}

export function createServiceModel(): ServiceModel {
  return { pauses: new Map(), told: new Map(), operatorPause: null };
}

/** The records of one tracker. */
export function createDurableModel(service: ServiceModel = createServiceModel()): DurableModel {
  return {
    claims: new Map(),
    parked: new Map(),
    outbox: new Map(),
    workspaces: new Map(),
    spent: new Map(),
    pauses: service.pauses,
    watches: new Map(),
    approvals: new Map(),
    told: service.told,
    get operatorPause() {
      return service.operatorPause;
    },
    set operatorPause(pause) {
      service.operatorPause = pause;
    },
  };
}

export function applyWrites(model: DurableModel, writes: readonly Write[]): void {
  for (const write of writes) applyWrite(model, write);
}

export function loadModel(model: DurableModel): Durable {
  return {
    claims: [...model.claims.values()],
    parked: [...model.parked.values()],
    outbox: [...model.outbox.values()],
    workspaces: [...model.workspaces.values()],
    spent: [...model.spent.values()],
    pauses: [...model.pauses.values()],
    watches: [...model.watches.values()],
    approvals: [...model.approvals.values()],
    operatorPause: model.operatorPause,
    told: [...model.told.values()],
  };
}

/** The names of the parts in which memory and store differ. Records are compared by identity: they are never changed in place. */
export function differences(model: DurableModel, state: State, now = -Infinity): readonly string[] {
  const parts = ['claims', 'parked', 'outbox', 'workspaces', 'watches', 'approvals'] as const;
  const different: string[] = parts.filter(
    (part) => !sameMap(model[part] as ReadonlyMap<string, unknown>, state[part] as ReadonlyMap<string, unknown>),
  );
  if (!samePauses(unexpired(model.pauses, now), unexpired(state.pauses, now))) different.push('pauses');
  if (!remembersSpent(model, state)) different.push('spent');
  if (model.operatorPause !== state.operatorPause) different.push('operatorPause');
  // One that was left hears of it when it is watched again.
  if (state.lifecycle !== 'leaving' && !sameMap(model.told, state.told)) different.push('told');
  return different;
}

/** In memory it is kept of the issues that may run, of others or not. */
function remembersSpent(model: DurableModel, state: State): boolean {
  const needed = [...model.spent.keys()].filter((id) => mayRun(state, id));
  return [...needed, ...state.spent.keys()].every((id) => model.spent.get(id) === state.spent.get(id));
}

/** Every tracker keeps them, and moves them along when the clock is set: the same ones in words of its own. */
function samePauses(stored: State['pauses'], known: State['pauses']): boolean {
  return JSON.stringify([...stored]) === JSON.stringify([...known]);
}

/** A pause that is over is forgotten by each tracker in its own time. */
function unexpired(pauses: State['pauses'], now: number): State['pauses'] {
  return new Map([...pauses].filter(([, { until }]) => until > now));
}

function applyWrite(model: DurableModel, write: Write): void {
  switch (write.write) {
    case 'claim':
      model.claims.set(write.claim.issue.id, write.claim);
      return;
    case 'release':
      model.claims.delete(write.issueId);
      return;
    case 'park':
      model.parked.set(write.parked.issue.id, write.parked);
      return;
    case 'unpark':
      model.parked.delete(write.issueId);
      return;
    case 'outbox':
      model.outbox.set(write.entry.id, write.entry);
      return;
    case 'outbox-done':
      model.outbox.delete(write.id);
      return;
    case 'workspace':
      model.workspaces.set(write.workspace.path, write.workspace);
      return;
    case 'workspace-gone':
      model.workspaces.delete(write.path);
      return;
    case 'spent':
      model.spent.set(write.spent.issueId, write.spent);
      return;
    case 'pause':
      model.pauses.set(write.pause.agentKind, write.pause);
      return;
    case 'resume':
      model.pauses.delete(write.agentKind);
      return;
    case 'watch':
      model.watches.set(write.watch.issue.id, write.watch);
      return;
    case 'unwatch':
      model.watches.delete(write.issueId);
      return;
    case 'approve':
      model.approvals.set(write.approval.issueId, write.approval);
      return;
    case 'unapprove':
      model.approvals.delete(write.issueId);
      return;
    case 'operator-pause':
      model.operatorPause = write.pause;
      return;
    case 'told':
      model.told.set(write.told.subject, write.told);
      return;
    case 'told-over':
      model.told.delete(write.subject);
      return;
    case 'answer':
    case 'run':
    case 'run-events':
    case 'interrupt-runs':
      return;
  }
}

function sameMap(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}
