import { realpathSync, renameSync, rmSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { crashPoint } from '../../lib/crash-point.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { isSame } from './content.ts';
import type { Content } from './content.ts';
import {
  closeFile,
  contentAtOnce,
  contentOf,
  createFile,
  fillSynced,
  makeLike,
  openFile,
  statsOf,
  syncDirectory,
} from './file-access.ts';
import { withLock } from './lock.ts';
import { dateBack, ownStampOf, stampOf } from './stamp.ts';
import type { FileVersion } from './stamp.ts';
import { temporaryIn } from './temporary.ts';

/** Thrown by an edit that met a text it cannot read: perhaps somebody is just writing it, so it is read again. */
export class UnreadableTextError extends Error {
  constructor(cause: unknown) {
    super('the text cannot be read', { cause });
    this.name = 'UnreadableTextError';
  }
}

const MOST_TRIES = 20;
const PAUSE_MS = 10;

/** How a file is to be changed. */
export interface Rewrite {
  /** What the file held the last time; `edit` is called with its very content while the file holds that. */
  readonly known?: FileVersion | null;
  /** May be called several times. Null when there is nothing to do. */
  edit(content: Content): Content | null;
  /** Asked right before the replacement. */
  readonly mayWrite?: ProviderDeps['mayWrite'];
  /** Hears what the file holds now before anybody can look at it. */
  replaced?(version: FileVersion): void;
  /** The directory whose lock the caller holds: the file needs none of its own there. */
  readonly lockedIn?: string;
  /** Has the directory reach the disk, and with it the replacement. */
  sync?(directory: string): Promise<void>;
}

/**
 * Changes a file that others change too. The new text is complete on the disk before it takes the old one's place, and
 * it takes that place only while the old one is what the change was made from; otherwise the change is made anew from
 * what is there. What does not wait for the disk is done at once: through the pool of threads it would cost more.
 */
export async function rewriteFile(file: string, rewrite: Rewrite): Promise<void> {
  // A link stays a link: what it leads to is replaced.
  const target = realpathSync.native(file);
  if (path.dirname(target) === rewrite.lockedIn) await rewriteLocked(target, rewrite);
  else await withLock(`${target}.foray-lock`, () => rewriteLocked(target, rewrite));
}

async function rewriteLocked(target: string, rewrite: Rewrite): Promise<void> {
  let overwritten: Content | null = null;
  for (let tries = 1; ; tries += 1) {
    const outcome: Outcome = await tryOnce(target, rewrite, overwritten).catch((error: unknown) => unreadable(error, tries));
    if (outcome.done) return;
    overwritten = outcome.overwritten ?? overwritten;
    if (tries >= MOST_TRIES) throw new Error(`${MOST_TRIES} times somebody else changed it first`);
    await delay(PAUSE_MS);
  }
}

interface Outcome {
  readonly done: boolean;
  /** Somebody's edit that our replacement hid: it is the base of the next try. */
  readonly overwritten?: Content;
}

function unreadable(error: unknown, tries: number): Outcome {
  if (!(error instanceof UnreadableTextError) || tries >= MOST_TRIES)
    throw error instanceof UnreadableTextError ? error.cause : error;
  return { done: false };
}

async function tryOnce(file: string, rewrite: Rewrite, overwritten: Content | null): Promise<Outcome> {
  const old = openFile(file);
  try {
    const before = await lookAt(old, rewrite.known ?? null);
    const after = rewrite.edit(overwritten ?? before.content) ?? overwritten;
    if (after === null) return { done: true };
    if (!(await replaceIfUnchanged(file, before, after, rewrite))) return { done: false };
    await (rewrite.sync ?? syncDirectory)(path.dirname(file));
    const late = await lateEditOf(old, before);
    return late === null ? { done: true } : { done: false, overwritten: [late] };
  } finally {
    closeFile(old);
  }
}

/** What a change is made from. */
interface Base {
  readonly content: Content;
  readonly stats: BigIntStats;
  /** It is what we wrote, and its stamp alone tells whether anybody touched it since. */
  readonly isOwn: boolean;
}

async function lookAt(descriptor: number, known: FileVersion | null): Promise<Base> {
  const stats = statsOf(descriptor);
  if (known !== null && known.stamp === stampOf(stats)) return { content: known.content, stats, isOwn: known.isOwn };
  const bytes = await contentOf(descriptor);
  return { content: known !== null && isSame(known.content, bytes) ? known.content : [bytes], stats, isOwn: false };
}

async function replaceIfUnchanged(file: string, before: Base, after: Content, rewrite: Rewrite): Promise<boolean> {
  const temporary = temporaryIn(path.dirname(file));
  const made = createFile(temporary, before.stats);
  let isReplaced = false;
  try {
    makeLike(made, before.stats);
    await fillSynced(made, after);
    const dated = dateBack(made);
    crashPoint('before replacing the file');
    await rewrite.mayWrite?.confirm();
    // In one go: whatever came between the look and the replacement would be lost.
    if (!isStill(file, before)) return false;
    renameSync(temporary, file);
    isReplaced = true;
    rewrite.replaced?.({ content: after, stamp: ownStampOf(made, dated), isOwn: true });
  } finally {
    closeFile(made);
    if (!isReplaced) rmSync(temporary, { force: true });
  }
  return true;
}

function isStill(file: string, before: Base): boolean {
  const now = openFile(file);
  try {
    return before.isOwn ? stampOf(statsOf(now)) === stampOf(before.stats) : isSame(before.content, contentAtOnce(now));
  } finally {
    closeFile(now);
  }
}

/** What somebody wrote into the old file, which they had open when it was replaced. Waits until they are done. */
async function lateEditOf(old: number, before: Base): Promise<Buffer | null> {
  const { size, mtimeNs } = statsOf(old);
  if (before.isOwn && size === before.stats.size && mtimeNs === before.stats.mtimeNs) return null;
  let content = await contentOf(old);
  if (isSame(before.content, content)) return null;
  for (let look = 0; look < MOST_TRIES; look += 1) {
    await delay(PAUSE_MS);
    const next = await contentOf(old);
    if (next.equals(content) && next.length > 0) break;
    content = next;
  }
  return content.length > 0 && !isSame(before.content, content) ? content : null;
}
