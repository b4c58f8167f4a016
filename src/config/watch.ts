import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import { readWorkflowText } from './file.ts';

export interface WatchOptions {
  onChange(): void;
  /** How often the file is looked at when no event tells of a change. */
  readonly pollMs?: number;
  /** `digest` of the content in use, so that an edit between loading and watching is not missed. */
  readonly seen?: string;
}

const DEFAULT_POLL_MS = 2000;
/** An editor's save is several events; the file is read once they are over. */
const DEBOUNCE_MS = 50;
/** Others write in the same directory too: their events must not put off the look for ever. */
const MAX_DEBOUNCE_MS = 500;
/** A file that is being replaced is missing for a moment; only one that stays away has changed. */
const MISSING_GRACE_MS = 250;

/**
 * Calls `onChange` whenever the content of a workflow file became different, until the signal aborts. The directory is
 * watched, not the file: editors replace files and mounted configuration swaps links, which ends a watch on the old one.
 * Where no events come (links to elsewhere, network mounts, no watches left) the slow look finds the change.
 */
export function watchWorkflow(workflowPath: string, options: WatchOptions, signal: AbortSignal): void {
  if (signal.aborted) return;
  let seen = options.seen ?? null;
  let missingOnce = false;
  let looking = false;
  let lookAgain = false;
  let timer: NodeJS.Timeout | null = null;
  let firstEventAt = 0;

  const look = async (): Promise<void> => {
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = true;
    const { digest } = await readWorkflowText(workflowPath);
    looking = false;
    if (!signal.aborted) settle(digest);
    if (!lookAgain) return;
    lookAgain = false;
    schedule(DEBOUNCE_MS);
  };

  const settle = (digest: string): void => {
    const missing = digest === 'workflow.missing' && seen !== digest;
    if (missing && !missingOnce) {
      missingOnce = true;
      schedule(MISSING_GRACE_MS);
      return;
    }
    missingOnce = false;
    const changed = seen !== null && seen !== digest;
    seen = digest;
    if (changed) options.onChange();
  };

  const schedule = (delay: number): void => {
    if (signal.aborted) return;
    if (timer) clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      void look();
    }, delay).unref();
  };

  const onEvent = (): void => {
    const now = performance.now();
    if (!timer) firstEventAt = now;
    if (now - firstEventAt < MAX_DEBOUNCE_MS) schedule(DEBOUNCE_MS);
  };

  const watcher = watchDirectory(path.dirname(path.resolve(workflowPath)), onEvent);
  const poll = setInterval(() => void look(), options.pollMs ?? DEFAULT_POLL_MS).unref();
  signal.addEventListener(
    'abort',
    () => {
      watcher?.close();
      clearInterval(poll);
      if (timer) clearTimeout(timer);
    },
    { once: true },
  );
  void look();
}

function watchDirectory(directory: string, onEvent: () => void): FSWatcher | null {
  try {
    const watcher = watch(directory, { persistent: false }, onEvent);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
