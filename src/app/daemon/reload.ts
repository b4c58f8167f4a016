import { isDeepStrictEqual } from 'node:util';
import type { Env } from '../../config/expand.ts';
import { placedAt } from '../../config/document.ts';
import { formatProblem, problemFacts } from '../../config/format.ts';
import { watchWorkflow } from '../../config/watch.ts';
import type { LoadedWorkflow } from '../../config/workflow.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { Notice, Notices } from '../../domain/model/notice.ts';
import type { SourcePosition } from '../../domain/model/problem.ts';
import type { Settings } from '../../domain/model/settings.ts';
import type { NoticeBus } from '../../ports/events.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Store } from '../../ports/store.ts';
import { crashPoint } from '../../lib/crash-point.ts';
import { buildAdapters, type BuiltAdapters } from '../adapters/build-adapters.ts';
import type { AdapterDeps } from '../adapters/adapter-deps.ts';
import { whileTold } from '../adapters/check-tracker.ts';
import { placeOfStates } from '../adapters/named-states.ts';
import { keepsToken } from '../pages/serve-http.ts';
import { withStoredIdentity, settleIdentity, tellIfPublic } from './settle-identity.ts';
import { tellIfEndless } from '../endless.ts';
import { readWorkflowFile, requireGood, tellWarnings, WorkflowFault } from '../workflow.ts';
import { errorText } from '../../lib/error-text.ts';

export interface ReloadDeps {
  readonly env: Env;
  readonly logger: Logger;
  readonly notices: Pick<NoticeBus, 'listen'>;
  readonly announce: (notice: Notice) => void;
  readonly adapterDeps: AdapterDeps;
  readonly store: Pick<Store, 'identityOf' | 'nameTracker'>;
}

/**
 * Applies edits of the workflow file while the daemon runs, one after the other and each as the file is by then, so
 * that the newest content comes last. One that waits for its tracker gives way to the next. A broken edit is reported once and the last good one stays; one that could not
 * be tried because the tracker was out of reach is tried again at every poll, until it is applied or replaced.
 */
export function followWorkflow(deps: ReloadDeps, first: BuiltAdapters, onGood: OnGood): () => void {
  const stopped = new AbortController();
  const { path, fingerprint } = first.workflow;
  const edits = createEdits(deps, { first, onGood, stopped: stopped.signal });
  let queue = Promise.resolve();

  function enqueue(isDue: () => boolean): void {
    queue = queue.then(() => (isDue() ? edits.apply() : undefined));
  }

  const onChange = (): void => {
    edits.giveWay();
    enqueue(() => true);
  };
  watchWorkflow(path, { onChange, seen: fingerprint }, stopped.signal);
  const unlisten = deps.notices.listen(({ name }) => {
    const isPolled = name === 'poll:tick:completed' || name === 'poll:tick:failed';
    if (isPolled && edits.isWaiting()) enqueue(edits.isWaiting);
  });
  return () => {
    stopped.abort();
    unlisten();
  };
}

/** Hears of an edit that is in force from now on, and of the file as it was read. */
type OnGood = (adapters: BuiltAdapters, read: LoadedWorkflow) => Promise<void>;

interface Edits {
  /** Takes over the file as it is now, or tells why not. Never rejects. */
  apply(): Promise<void>;
  /** Whether the last edit could not be tried: the tracker was out of reach, or the file was written meanwhile. */
  isWaiting(): boolean;
  /** The file was touched: what waits is not waited for any more, and what is wrong with it is worth telling again. */
  giveWay(): void;
}

interface EditsContext {
  readonly first: BuiltAdapters;
  readonly onGood: OnGood;
  readonly stopped: AbortSignal;
}

/** The edits of one workflow file, of which the last good one is in force. */
function createEdits(deps: ReloadDeps, { first, onGood, stopped }: EditsContext): Edits {
  const { path } = first.workflow;
  let current = first;
  /** What the file held when it was last applied; null from the next edit on, until one is. */
  let applied: string | null = first.workflow.fingerprint;
  let isUntried = false;
  let told = '';
  let trying = new AbortController();

  async function apply(): Promise<void> {
    if (stopped.aborted) return;
    const loaded = await readWorkflowFile(path, deps.env);
    isUntried = false;
    if (loaded.fingerprint === applied) return;
    applied = null;
    trying = new AbortController();
    const signal = AbortSignal.any([stopped, trying.signal]);
    crashPoint('after reading the edit');
    try {
      const workflow = requireGood(loaded);
      const built = await withStoredIdentity(await buildAdapters(workflow, deps.adapterDeps, current), deps.store);
      const next = await whileTold(built.tracker, tellWait, () => prove(built, current, deps.store, signal));
      // The tracker may have taken its time: what was written meanwhile is tried instead, once it stays as it is.
      isUntried = (await readWorkflowFile(path, deps.env)).fingerprint !== loaded.fingerprint;
      if (isUntried) return;
      warnOfRestart(keysForNextStart(current, next, first), deps.logger);
      crashPoint('before the edit is in force');
      await onGood(next, workflow);
      crashPoint('after the edit is in force');
      current = next;
      applied = loaded.fingerprint;
      told = '';
      tellWarnings(workflow, deps.logger);
      tellIfEndless(workflow, deps.logger);
      tellIfPublic(next, deps.logger);
      deps.announce({ name: 'workflow:file:reloaded', facts: { path } });
    } catch (error) {
      if (!signal.aborted) reject(error, loaded);
    }
  }

  /** Not of one that was told to be rejected: its cause says more. */
  function tellWait(kind: string): void {
    if (told === '') deps.announce({ name: 'workflow:file:awaited', facts: { path, kind } });
  }

  function reject(error: unknown, edit: LoadedWorkflow): void {
    isUntried = isOutOfReach(error);
    const facts = rejection(error, edit);
    if (facts.problems.join('\n') === told) return;
    told = facts.problems.join('\n');
    deps.announce({ name: 'workflow:file:rejected', facts });
  }

  return {
    apply,
    isWaiting: () => isUntried,
    giveWay() {
      trying.abort();
      told = '';
    },
  };
}

/** Its tracker answers, and says which project it is. */
async function prove(
  built: BuiltAdapters,
  current: BuiltAdapters,
  store: ReloadDeps['store'],
  signal: AbortSignal,
): Promise<BuiltAdapters> {
  crashPoint('before proving the edit');
  if (built.tracker !== current.tracker) await built.tracker.preflight?.(signal, { mustAnswer: true });
  const proved = await settleIdentity(built, store, signal);
  crashPoint('after proving the edit');
  return proved;
}

/** Time may heal it, without anybody touching the file. */
function isOutOfReach(error: unknown): boolean {
  return error instanceof TrackerError && (error.kind === 'tracker_transport_error' || error.kind === 'tracker_api_error');
}

/** Why an edit was not taken: one line each for people, and the same with its place for programs. */
export function rejection(
  error: unknown,
  edit: Pick<LoadedWorkflow, 'path' | 'settings' | 'placeOf'>,
): Notices['workflow:file:rejected'] {
  const { path } = edit;
  if (error instanceof WorkflowFault) {
    const faults = error.problems.filter(({ severity }) => severity === 'error');
    return { path, problems: faults.map(formatProblem), faults: faults.map((fault) => problemFacts(fault, path)) };
  }
  const refused = { severity: 'error', check: 'tracker.access', message: errorText(error) } as const;
  const fault = placedAt(refused, placeOfFault(error, edit));
  return { path, problems: [fault.message], faults: [problemFacts(fault, path)] };
}

/** Some faults of a tracker are words of the file. */
function placeOfFault(
  error: unknown,
  { settings, placeOf }: Pick<LoadedWorkflow, 'settings' | 'placeOf'>,
): SourcePosition | null {
  if (!(error instanceof TrackerError) || settings === null) return null;
  return placeOfStates({ settings, placeOf }, error.unknownStates);
}

function warnOfRestart(changed: readonly string[], logger: Logger): void {
  if (changed.length > 0) logger.warn('a changed setting takes effect at the next start', { keys: changed.join(', ') });
}

/** Some settings are read once, by the `first` that the service was started with: an edit back to those is in force. */
function keysForNextStart(before: BuiltAdapters, after: BuiltAdapters, first: BuiltAdapters): readonly string[] {
  const [old, next, started] = [before.workflow.settings, after.workflow.settings, first.workflow.settings];
  const waits = (value: (settings: Settings) => unknown): boolean =>
    !isDeepStrictEqual(value(old), value(next)) && !isDeepStrictEqual(value(started), value(next));
  const isKept = keepsToken(started.server.host, next.server);
  return [
    waits(({ server }) => server.port) && 'server.port',
    waits(({ server }) => server.host) && 'server.host',
    old.server.token !== next.server.token && isKept && 'server.token',
    waits(({ dbPath }) => dbPath) && 'db_path',
    waits(({ storeUrl }) => storeUrl) && 'store.url',
    waits(({ logging }) => logging) && 'logging',
  ].filter((key) => key !== false);
}
