import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import { readWorkflowText } from './file.ts';

export interface WatchOptions {
  onChange(): void;
  /** How often the file is looked at when no event tells of a change. */
  readonly pollMs?: number;
  /** `fingerprint` of the content in use, so that an edit between loading and watching is not missed. */
  readonly seen?: string;
}

const DEFAULT_POLL_MS = 2000;
/** An editor's save is several events; the file is read once they are over. */
const DEBOUNCE_MS = 50;
/** Others write in the same directory too: their events must not put off the look for ever. */
const MAX_DEBOUNCE_MS = 500;
/** A file that is being written is half there for a moment: only what is read again as it was has changed. */
const SETTLED_MS = 50;
/** One that is being replaced is missing for longer. */
const MISSING_MS = 250;

/**
 * Calls `onChange` whenever the content of a workflow file became different, until the signal aborts. The directory is
 * watched, not the file: editors replace files and mounted configuration swaps links, which ends a watch on the old one.
 * Where no events come (links to elsewhere, network mounts, no watches left) the slow look finds the change.
 */
export function watchWorkflow(workflowPath: string, options: WatchOptions, signal: AbortSignal): void {
  if (signal.aborted) return;
  const settle = createComparison(options);
  const timer = createDebounce(() => void look());
  let looking = false;
  let lookAgain = false;

  async function look(): Promise<void> {
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = true;
    const { fingerprint } = await readWorkflowText(workflowPath);
    looking = false;
    if (signal.aborted) return;
    const again = settle(fingerprint, performance.now());
    if (again !== null) timer.schedule(again);
    else if (lookAgain) timer.schedule(DEBOUNCE_MS);
    lookAgain = false;
  }

  const watcher = watchDirectory(path.dirname(path.resolve(workflowPath)), timer.event);
  const poll = setInterval(() => void look(), options.pollMs ?? DEFAULT_POLL_MS).unref();
  const stop = (): void => {
    watcher?.close();
    clearInterval(poll);
    timer.stop();
  };
  signal.addEventListener('abort', stop, { once: true });
  void look();
}

/**
 * Compares what is read with what was read last, and tells of a change that lasts. Gives the milliseconds until it has to
 * be looked at again.
 */
function createComparison({ seen: first, onChange }: WatchOptions): (fingerprint: string, now: number) => number | null {
  let seen = first ?? null;
  let other: { readonly fingerprint: string; readonly since: number } | null = null;
  return (fingerprint, now) => {
    seen ??= fingerprint;
    if (fingerprint === seen) {
      other = null;
      return null;
    }
    if (other?.fingerprint !== fingerprint) other = { fingerprint, since: now };
    const left = (fingerprint === 'workflow.missing' ? MISSING_MS : SETTLED_MS) - (now - other.since);
    if (left > 0) return left;
    seen = fingerprint;
    other = null;
    onChange();
    return null;
  };
}

/** Runs `look` once a burst of events is over. */
function createDebounce(look: () => void) {
  let timer: NodeJS.Timeout | null = null;
  let firstEventAt = 0;
  function schedule(delay: number): void {
    if (timer) clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      look();
    }, delay).unref();
  }
  return {
    schedule,
    event(): void {
      const now = performance.now();
      if (!timer) firstEventAt = now;
      if (now - firstEventAt < MAX_DEBOUNCE_MS) schedule(DEBOUNCE_MS);
    },
    stop(): void {
      if (timer) clearTimeout(timer);
      timer = null;
    },
  };
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
