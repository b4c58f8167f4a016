import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { codeOf } from '../lib/error-code.ts';
import { makeDirectoriesNow } from '../lib/make-directories.ts';
import { once } from '../lib/once.ts';
import { clearPlace } from '../lib/remove-place.ts';
import { hasDirectory, look } from './containment.ts';
import { readShortFile } from '../lib/short-file.ts';

/** Beside the workspaces: who each was made for. */
const FOLDER = '.foray-marks';

/** Whose a directory is: of this issue, of nobody we know of, or of another issue, tracker or daemon. */
export type Owner = 'own' | 'nobody' | 'other';

/** An issue of a tracker. */
export interface MarkSubject {
  readonly tracker: string;
  readonly issueId: string;
}

const markSchema = once(() => z.object({ tracker: z.string(), issue_id: z.string(), signature: z.string() }));

/**
 * Whose the directory of this name is. Only a mark signed with the key of our database proves that it is ours: agents
 * can write files here, and so can a daemon with another database.
 */
export function ownerOf(root: string, name: string, subject: MarkSubject, key: string): Owner {
  return judgeMark(readShortFile(fileOf(root, name)), name, subject, key);
}

/** The same for the text of a mark; null where there is none. A power failure may leave an empty one: it says as little. */
export function judgeMark(text: string | null, name: string, subject: MarkSubject, key: string): Owner {
  if (text === null || text === '') return 'nobody';
  if (sameText(text, markText(name, subject, key))) return 'own';
  const mark = markSchema().safeParse(decode(text));
  if (!mark.success) return 'other';
  const { tracker, issue_id: issueId, signature } = mark.data;
  const signed = sameText(signature, signatureOf(name, { tracker, issueId }, key));
  return signed && tracker === subject.tracker && issueId === subject.issueId ? 'own' : 'other';
}

/** Marks a directory before it is made, or one that nobody marked. */
export function putMark(
  root: string,
  { name, exists }: { readonly name: string; readonly exists: boolean },
  subject: MarkSubject,
  key: string,
): void {
  const text = markText(name, subject, key);
  const file = fileOf(root, name);
  if (exists || !isWritten(file, text)) replaceMark(file, text);
}

/** Whether it could be written as a new file, in a folder that is there and no link. A crash may leave a part of it, which says nothing while its directory is not there. */
function isWritten(file: string, text: string): boolean {
  if (!hasDirectory(path.dirname(file))) return false;
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (NOT_NEW.has(codeOf(error))) return false;
    throw error;
  }
}

const NOT_NEW: ReadonlySet<string | undefined> = new Set(['EEXIST', 'ENOENT', 'ENOTDIR', 'ELOOP']);

/** Whatever is in its place or in that of the next one was left by a crash or put there by an agent. */
export function replaceMark(file: string, text: string): void {
  const folder = path.dirname(file);
  const next = `${file}.new`;
  if (!hasDirectory(folder)) makeDirectoriesNow(folder, 0o700);
  clearPlace(next);
  writeFileSync(next, text, { flag: 'wx', mode: 0o600 });
  if (look(file)?.isDirectory()) clearPlace(file);
  renameSync(next, file);
}

/** One line. */
export function markText(name: string, { tracker, issueId }: MarkSubject, key: string): string {
  return `${JSON.stringify({ tracker, issue_id: issueId, signature: signatureOf(name, { tracker, issueId }, key) })}\n`;
}

export function dropMark(root: string, name: string): void {
  removeMark(fileOf(root, name));
}

/** Or a file beside it. A link in the place of the folder would lead the deletion elsewhere. */
export function removeMark(file: string): void {
  if (hasDirectory(path.dirname(file))) clearPlace(file);
}

function fileOf(root: string, name: string): string {
  return path.join(root, markFile(name));
}

/** Relative to the root. */
export function markFile(name: string): string {
  return path.join(FOLDER, `${name.length <= LONGEST_PLAIN ? name : shortened(name)}.json`);
}

/** So that the endings of a mark still fit into a file name. */
const LONGEST_PLAIN = 240;

/** Names that begin alike have marks of their own. */
function shortened(name: string): string {
  return `${name.slice(0, 200)}+${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;
}

/** Of a mark, or of a text beside it. */
export function signatureOf(name: string, { tracker, issueId }: MarkSubject, key: string, text?: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([name, tracker, issueId, ...(text === undefined ? [] : [text])]))
    .digest('hex');
}

export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function decode(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
