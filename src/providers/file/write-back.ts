import { randomUUID } from 'node:crypto';
import { fstatSync, readFileSync, realpathSync, renameSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { crashPoint } from '../../lib/crash-point.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { withLock } from './lock.ts';

/** Thrown by an edit that met a text it cannot read: perhaps somebody is just writing it, so it is read again. */
export class UnreadableTextError extends Error {
  constructor(cause: unknown) {
    super('the text cannot be read', { cause });
    this.name = 'UnreadableTextError';
  }
}

const MOST_TRIES = 20;
const PAUSE_MS = 10;

/**
 * Changes a file that others change too. The new text is complete on the disk before it takes the old one's place, and
 * it takes that place only while the old one is what the change was made from; otherwise the change is made anew from
 * what is there. `edit` may be called several times and returns null when there is nothing to do. `mayWrite` is asked
 * right before the replacement.
 */
export async function rewriteFile(
  file: string,
  edit: (text: string) => string | null,
  mayWrite?: ProviderDeps['mayWrite'],
): Promise<void> {
  // A link stays a link: what it leads to is replaced.
  const target = realpathSync.native(file);
  await withLock(`${target}.foray-lock`, async () => {
    let overwritten: Buffer | null = null;
    for (let tries = 1; ; tries += 1) {
      const outcome: Outcome = await tryOnce(target, { edit, mayWrite }, overwritten).catch((error: unknown) =>
        unreadable(error, tries),
      );
      if (outcome.done) return;
      overwritten = outcome.overwritten ?? overwritten;
      if (tries >= MOST_TRIES) throw new Error(`${MOST_TRIES} times somebody else changed it first`);
      await delay(PAUSE_MS);
    }
  });
}

interface Outcome {
  readonly done: boolean;
  /** Somebody's edit that our replacement hid: it is the base of the next try. */
  readonly overwritten?: Buffer;
}

function unreadable(error: unknown, tries: number): Outcome {
  if (!(error instanceof UnreadableTextError) || tries >= MOST_TRIES)
    throw error instanceof UnreadableTextError ? error.cause : error;
  return { done: false };
}

interface Change {
  readonly edit: (text: string) => string | null;
  readonly mayWrite: ProviderDeps['mayWrite'];
}

async function tryOnce(file: string, { edit, mayWrite }: Change, overwritten: Buffer | null): Promise<Outcome> {
  const old = await open(file, 'r');
  try {
    const before = await contentOf(old);
    const base = (overwritten ?? before).toString('utf8');
    const after = edit(base) ?? (overwritten === null ? null : base);
    if (after === null) return { done: true };
    if (!(await replaceIfUnchanged(file, { before, after, stats: fstatSync(old.fd) }, mayWrite))) return { done: false };
    const late = await lateEditOf(old, before);
    return late === null ? { done: true } : { done: false, overwritten: late };
  } finally {
    await old.close();
  }
}

async function replaceIfUnchanged(
  file: string,
  { before, after, stats }: { readonly before: Buffer; readonly after: string; readonly stats: Stats },
  mayWrite: ProviderDeps['mayWrite'],
): Promise<boolean> {
  const temporary = path.join(path.dirname(file), `.foray-${randomUUID()}.tmp`);
  let isReplaced = false;
  try {
    await writeSynced(temporary, after, stats);
    crashPoint('before replacing the file');
    await mayWrite?.confirm();
    // In one go: whatever came between the look and the replacement would be lost.
    if (!readFileSync(file).equals(before)) return false;
    renameSync(temporary, file);
    isReplaced = true;
  } finally {
    if (!isReplaced) await rm(temporary, { force: true });
  }
  await syncDirectory(path.dirname(file));
  return true;
}

async function writeSynced(file: string, text: string, like: Stats): Promise<void> {
  const handle = await open(file, 'wx', like.mode & 0o777);
  try {
    await handle.writeFile(text, 'utf8');
    const made = fstatSync(handle.fd);
    // The mode given at creation is subject to the umask. Giving the file away needs a right that we may not have.
    if (made.mode !== like.mode) await handle.chmod(like.mode & 0o7777);
    if (made.uid !== like.uid || made.gid !== like.gid) await handle.chown(like.uid, like.gid).catch(() => {});
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A rename is on the disk only when its directory is. Some file systems cannot sync one. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().catch(() => {});
  await handle.close();
}

/** What somebody wrote into the old file, which they had open when it was replaced. Waits until they are done. */
async function lateEditOf(old: FileHandle, before: Buffer): Promise<Buffer | null> {
  let content = await contentOf(old);
  if (content.equals(before)) return null;
  for (let look = 0; look < MOST_TRIES; look += 1) {
    await delay(PAUSE_MS);
    const next = await contentOf(old);
    if (next.equals(content) && next.length > 0) break;
    content = next;
  }
  return content.length > 0 && !content.equals(before) ? content : null;
}

/** From the beginning, whatever was read before. */
async function contentOf(handle: FileHandle): Promise<Buffer> {
  const content = Buffer.allocUnsafe(fstatSync(handle.fd).size);
  let size = 0;
  while (size < content.length) {
    const { bytesRead } = await handle.read(content, size, content.length - size, size);
    if (bytesRead === 0) break;
    size += bytesRead;
  }
  return content.subarray(0, size);
}
