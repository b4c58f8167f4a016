import { randomUUID } from 'node:crypto';
import { open, readFile, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Writers hold a lock for milliseconds; one this old was left behind. */
const STALE_AFTER_MS = 10_000;
const PATIENCE_MS = 5_000;
const PAUSE_MS = 10;

/** Does the work while holding a lock file, so that several daemons and commands take turns. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const content = `${process.pid} ${hostname()} ${randomUUID()}\n`;
  await acquire(file, content);
  try {
    return await work();
  } finally {
    // One that was taken from us as stale belongs to somebody else now.
    if ((await contentOf(file)) === content) await rm(file, { force: true });
  }
}

async function acquire(file: string, content: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (!(await create(file, content))) {
    const seen = await contentOf(file);
    if (seen !== null && (await isStale(file, seen)) && (await contentOf(file)) === seen) await rm(file, { force: true });
    else if (performance.now() > until) throw new Error(`another writer holds ${file}; remove it if none is running`);
    else await delay(PAUSE_MS);
  }
}

async function create(file: string, content: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o644);
    await handle.writeFile(content).finally(() => handle.close());
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Null when there is none. */
async function contentOf(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null);
}

async function isStale(file: string, content: string): Promise<boolean> {
  const [pid, host] = content.trim().split(' ');
  if (host === hostname() && pid !== undefined && !isRunning(Number(pid))) return true;
  const stats = await stat(file).catch(() => null);
  // File times are the system's own, so they are compared with its clock.
  return stats !== null && Date.now() - stats.mtimeMs > STALE_AFTER_MS;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
