import { randomUUID } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { readShortFile } from '../../lib/short-file.ts';

/** Writers hold a lock for milliseconds; one this old was left behind. */
const STALE_AFTER_MS = 10_000;
const PATIENCE_MS = 5_000;
const PAUSE_MS = 10;

/**
 * Does the work while holding a lock file, so that several daemons and commands take turns. Nothing here waits for the disk,
 * so it is done at once: through the pool of threads it would cost more than the work itself.
 */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const content = `${process.pid} ${hostname()} ${randomUUID()}\n`;
  await acquire(file, content);
  try {
    return await work();
  } finally {
    // One that was taken from us as stale belongs to somebody else now.
    if (contentOf(file) === content) rmSync(file, { force: true });
  }
}

async function acquire(file: string, content: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (!create(file, content)) {
    const seen = contentOf(file);
    if (seen !== null && isStale(file, seen) && contentOf(file) === seen) rmSync(file, { force: true });
    else if (performance.now() > until) throw new Error(`another writer holds ${file}; remove it if none is running`);
    else await delay(PAUSE_MS);
  }
}

function create(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o644 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Null when there is none. */
function contentOf(file: string): string | null {
  try {
    return readShortFile(file);
  } catch {
    return null;
  }
}

function isStale(file: string, content: string): boolean {
  const [pid, host] = content.trim().split(' ');
  if (host === hostname() && pid !== undefined && !isRunning(Number(pid))) return true;
  const stats = statSync(file, { throwIfNoEntry: false });
  // File times are the system's own, so they are compared with its clock.
  return stats !== undefined && Date.now() - stats.mtimeMs > STALE_AFTER_MS;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
