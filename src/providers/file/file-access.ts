import {
  close,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  open,
  openSync,
  read,
  readSync,
  statSync,
  writev,
  writevSync,
} from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { behind, lengthOf } from './content.ts';
import type { Content } from './content.ts';

/** Up to so much is read and written at once; a longer text goes through the pool of threads, so that others are not kept waiting. */
const SHORT = 64 * 1024;

/** Without NONBLOCK, a pipe put in its place meanwhile would hold us for ever. */
export const READING = constants.O_RDONLY | constants.O_NONBLOCK;

export function openFile(file: string): number {
  return openSync(file, READING);
}

/** With its last descriptor a long file that was replaced is given up, which takes its time too. */
export function closeFile(descriptor: number): void {
  if (fstatSync(descriptor).size <= SHORT) closeSync(descriptor);
  else close(descriptor, () => {});
}

export function statsOf(descriptor: number): BigIntStats {
  return fstatSync(descriptor, { bigint: true });
}

/** Looks at a file. */
export type Look<T> = (file: string) => Promise<T> | T;

/** One way of looking: now, or on a thread of the pool. */
interface WayToLook<T> {
  atOnce(file: string): T;
  throughPool(file: string): Promise<T>;
}

/** A drive that answered this recently answers at once, and nobody is kept waiting longer than this by looking at many files. */
const ANSWERING_MS = 20;

/**
 * Looks at files of one drive. One that hangs holds up a thread of the pool and nothing else; while the drive answers,
 * most looks are made at once: through the pool of threads they would cost more, and wait for the disk behind others. So
 * one asks whether it does, and all who come meanwhile wait for that.
 */
export function createLook<T>({ atOnce, throughPool }: WayToLook<T>): Look<T> {
  let answeredAt = -Infinity;
  let asking: Promise<boolean> | null = null;
  const ask = async (file: string): Promise<T> => {
    const found = await throughPool(file);
    answeredAt = performance.now();
    return found;
  };
  const look: Look<T> = (file) => {
    if (performance.now() - answeredAt < ANSWERING_MS) return atOnce(file);
    if (asking !== null) return asking.then((answers) => (answers ? look(file) : ask(file)));
    const asked = ask(file);
    const told = (answers: boolean): boolean => {
      asking = null;
      return answers;
    };
    asking = asked.then(
      () => told(true),
      () => told(false),
    );
    return asked;
  };
  return look;
}

/** By its name. */
export const BY_NAME: WayToLook<BigIntStats> = {
  atOnce: (file) => statSync(file, { bigint: true }),
  throughPool: (file) => stat(file, { bigint: true }),
};

/**
 * Opened, not only looked at: a network file system may tell of a file it has not opened what was true some seconds ago.
 * Null for what cannot be opened by anybody, such as a socket.
 */
export const BY_OPENING: WayToLook<BigIntStats | null> = {
  atOnce(file) {
    try {
      return statsAndClose(openFile(file));
    } catch (error) {
      return nullIfUnopenable(error);
    }
  },
  throughPool: (file) => openThroughPool(file, READING).then(statsAndClose, nullIfUnopenable),
};

function statsAndClose(descriptor: number): BigIntStats {
  const stats = statsOf(descriptor);
  closeSync(descriptor);
  return stats;
}

function nullIfUnopenable(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENXIO') return null;
  throw error;
}

/** From the beginning, whatever was read before. */
export async function contentOf(descriptor: number): Promise<Buffer> {
  const size = fstatSync(descriptor).size;
  if (size <= SHORT) return contentAtOnce(descriptor);
  const content = Buffer.allocUnsafeSlow(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await readPart(descriptor, content, length, size - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return content.subarray(0, length);
}

export function contentAtOnce(descriptor: number): Buffer {
  const content = Buffer.allocUnsafe(fstatSync(descriptor).size);
  let length = 0;
  while (length < content.length) {
    const count = readSync(descriptor, content, length, content.length - length, length);
    if (count === 0) break;
    length += count;
  }
  return content.subarray(0, length);
}

export function createFile(file: string, { mode }: BigIntStats): number {
  return openSync(file, 'wx', Number(mode) & 0o777);
}

/** Gives a new file the mode and the owner of another one. */
export function makeLike(descriptor: number, { mode, uid, gid }: BigIntStats): void {
  const made = statsOf(descriptor);
  // The mode given at creation is subject to the umask. Giving the file away needs a right that we may not have.
  if (made.mode !== mode) fchmodSync(descriptor, Number(mode) & 0o7777);
  if (made.uid !== uid || made.gid !== gid) giveAway(descriptor, Number(uid), Number(gid));
}

function giveAway(descriptor: number, uid: number, gid: number): void {
  try {
    fchownSync(descriptor, uid, gid);
  } catch {}
}

export async function fillSynced(descriptor: number, content: Content): Promise<void> {
  const isShort = lengthOf(content) <= SHORT;
  for (let rest = content; rest.length > 0;) {
    const count = isShort ? writevSync(descriptor, rest) : (await writeParts(descriptor, rest)).bytesWritten;
    rest = behind(rest, count);
  }
  // What others write in the same turn reaches the disk with it.
  await nextTurn();
  await toDisk(descriptor);
}

/** A rename is on the disk only when its directory is. Some file systems cannot sync one. */
export async function syncDirectory(directory: string): Promise<void> {
  const descriptor = openSync(directory, 'r');
  await toDisk(descriptor).catch(() => {});
  closeSync(descriptor);
}

const openThroughPool = promisify(open);
const readPart = promisify(read);
const writeParts = promisify(writev);
const toDisk = promisify(fsync);
