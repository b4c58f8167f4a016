import { randomUUID } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { clearPlace } from './remove-place.ts';

/*
 * Files of a line or two in places that agents can write too. They are read and written at once, since through the pool of threads that
 * would cost ten times as much. A pipe in their place would hold the whole service, and a link would lead it elsewhere, so
 * neither is opened.
 */

const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** In bytes. */
const LONGEST = 64 * 1024;

/** Null where there is none; empty for what is no such file. */
export function readShortFile(file: string, longest = LONGEST): string | null {
  try {
    return contentOf(openSync(file, READING), longest);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'EISDIR') return '';
    throw error;
  }
}

function contentOf(descriptor: number, longest: number): string {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() && stats.size <= longest ? readFileSync(descriptor, 'utf8') : '';
  } finally {
    closeSync(descriptor);
  }
}

/** Puts a file with this text in the place of whatever is there, unless it says so already: others read the one or the other. */
export function replaceShortFile(file: string, text: string, mode = 0o666): void {
  if (readShortFile(file) !== text) replaceFile(file, text, mode);
}

/** The same for a file of any length, whatever is there. */
export function replaceFile(file: string, text: string, mode = 0o666): void {
  const next = `${file}.${randomUUID()}`;
  writeFileSync(next, text, { flag: 'wx', mode });
  // A file takes the place of anything but a folder.
  if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) clearPlace(file);
  renameSync(next, file);
}
