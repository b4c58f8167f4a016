import type { Env } from '../config/expand.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { provider as fileProvider } from '../providers/file/index.ts';
import type { Logger, SteadyClock } from '../ports/runtime.ts';
import type { Tracker } from '../ports/tracker.ts';
import { startDaemon, type RunningDaemon } from './daemon.ts';
import { writeDemo } from './demo-files.ts';
import { createKnownSecrets } from './secrets.ts';
import { readWorkflowFile, requireGood, type GoodWorkflow } from './workflow.ts';

export interface DemoOptions {
  readonly env: Env;
  readonly version: string;
  readonly port: number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** How long a made-up reviewer takes, and how long an accepted issue rests before it comes back. */
const REVIEW_MS = 6_000;
const REST_MS = 10_000;

/** The whole service over made-up issues in a temporary folder, which is removed at the end. */
export async function startDemo(options: DemoOptions): Promise<RunningDaemon & { readonly directory: string }> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'foray-demo-'));
  const workflow = requireGood(await readWorkflowFile(await writeDemo(directory), options.env));
  const daemon = await startDaemon({
    ...options,
    workflow,
    secrets: createKnownSecrets(),
    interrupted: new AbortController().signal,
    reign: null,
  });
  const over = new AbortController();
  const reviewer = setInterval(createReviewer(workflow, options, over.signal), 1_000);
  const done = daemon.done.finally(async () => {
    clearInterval(reviewer);
    over.abort();
    await rm(directory, { recursive: true, force: true });
  });
  return { ...daemon, directory, done };
}

/** Plays the people: accepts what is in review, and files it again after a while, so that there is always something to see. */
function createReviewer(workflow: GoodWorkflow, options: DemoOptions, signal: AbortSignal): () => void {
  const { version, clock, logger } = options;
  const deps = { version, clock, logger, workflowDir: path.dirname(workflow.path) };
  const tracker = fileProvider.createTracker(workflow.settings.tracker, deps);
  const seen = new Map<string, { state: string; since: number }>();
  return () => {
    review(tracker, seen, clock.now(), signal).catch((error: unknown) => {
      if (!signal.aborted) logger.warn('the demo reviewer stumbled', { error: String(error) });
    });
  };
}

async function review(
  tracker: Tracker,
  seen: Map<string, { state: string; since: number }>,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  for (const issue of await tracker.fetchIssuesByStates(['review', 'done'], signal)) {
    const before = seen.get(issue.id);
    if (before?.state !== issue.state) {
      seen.set(issue.id, { state: issue.state, since: now });
      continue;
    }
    if (issue.state === 'review' && now - before.since > REVIEW_MS) await tracker.transitionIssue(issue.id, 'done', signal);
    if (issue.state === 'done' && now - before.since > REST_MS) await tracker.transitionIssue(issue.id, 'todo', signal);
  }
}
