import type { Env } from '../../config/expand.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { provider as fileProvider } from '../../providers/file/index.ts';
import { assembled, type Releasers } from '../../lib/releasers.ts';
import type { Logger, SteadyClock } from '../../ports/runtime.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { startDaemon, type RunningDaemon } from '../daemon/daemon.ts';
import { writeDemo } from './files.ts';
import { startDemoForge } from './forge.ts';
import { createKnownSecrets } from '../secrets.ts';
import { readWorkflowFile, requireGood, type GoodWorkflow } from '../workflow.ts';

export interface DemoOptions {
  readonly env: Env;
  readonly version: string;
  readonly port: number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  /** Ends the start. */
  readonly interrupted: AbortSignal;
  /** Everything made up takes this many times as long; tests are in a hurry. */
  readonly pace?: number;
  /** How many issues are made up; all that we know by default. */
  readonly issues?: number;
}

/** How long made-up checks and a made-up reviewer take, and how long a finished issue rests before it comes back. */
const CHECKS_MS = 4_000;
const REVIEW_MS = 3_000;
const REST_MS = 10_000;

/** The whole service over made-up issues in a temporary folder, which is removed at the end. */
export async function startDemo(options: DemoOptions): Promise<RunningDemo> {
  const onFault = (fault: unknown): void => options.logger.error('closing failed', { error: String(fault) });
  return assembled(onFault, (releasers) => assemble(options, releasers));
}

interface RunningDemo extends RunningDaemon {
  readonly directory: string;
}

async function assemble(options: DemoOptions, releasers: Releasers): Promise<RunningDemo> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'foray-demo-'));
  releasers.push(() => rm(directory, { recursive: true, force: true }));
  const { pace = 1, issues, clock } = options;
  const times = { checksMs: CHECKS_MS * pace, reviewMs: REVIEW_MS * pace };
  const forge = await startDemoForge(times, clock.now);
  releasers.push(() => forge.close());
  const workflow = requireGood(
    await readWorkflowFile(await writeDemo({ directory, forgeUrl: forge.url, pace, issues }), options.env),
  );
  const daemon = await startDaemon({
    ...options,
    workflow,
    secrets: createKnownSecrets(),
    term: null,
  });
  const over = new AbortController();
  const reporter = setInterval(createReporter(workflow, options, over.signal), 1_000 * pace);
  releasers.push(() => {
    clearInterval(reporter);
    over.abort();
  });
  return { ...daemon, directory, done: daemon.done.finally(() => releasers.run()) };
}

/** Plays the people: files what is done again after a while, so that there is always something to see. */
function createReporter(workflow: GoodWorkflow, options: DemoOptions, signal: AbortSignal): () => void {
  const { version, clock, logger, pace = 1 } = options;
  const deps = { version, clock, logger, workflowDir: path.dirname(workflow.path) };
  const tracker = fileProvider.createTracker(workflow.settings.tracker, deps);
  const doneSince = new Map<string, number>();
  return () => {
    fileAgain(tracker, doneSince, { now: clock.now(), restMs: REST_MS * pace }, signal).catch((error: unknown) => {
      if (!signal.aborted) logger.warn('the demo stumbled', { error: String(error) });
    });
  };
}

async function fileAgain(
  tracker: Tracker,
  doneSince: Map<string, number>,
  { now, restMs }: { readonly now: number; readonly restMs: number },
  signal: AbortSignal,
): Promise<void> {
  for (const { id } of await tracker.fetchIssuesByStates(['done'], signal)) {
    const since = doneSince.get(id) ?? now;
    doneSince.set(id, since);
    if (now - since < restMs) continue;
    doneSince.delete(id);
    await tracker.transitionIssue(id, 'todo', signal);
  }
}
