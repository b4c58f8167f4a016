import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { makeDirectories } from '../lib/make-directories.ts';
import { once } from '../lib/once.ts';
import { look } from './containment.ts';
import { readShortFile, writeShortFile } from '../lib/short-file.ts';

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

/** The same for the text of a mark; null where there is none. */
export function judgeMark(text: string | null, name: string, subject: MarkSubject, key: string): Owner {
  if (text === null) return 'nobody';
  const mark = markSchema().safeParse(decode(text));
  if (!mark.success) return 'other';
  const { tracker, issue_id: issueId, signature } = mark.data;
  const signed = sameText(signature, signatureOf(name, { tracker, issueId }, key));
  return signed && tracker === subject.tracker && issueId === subject.issueId ? 'own' : 'other';
}

/** Marks a directory before it is made. */
export async function putMark(root: string, name: string, subject: MarkSubject, key: string): Promise<void> {
  const folder = path.join(root, FOLDER);
  if (look(folder) === null) await makeDirectories(folder, 0o700);
  const text = markText(name, subject, key);
  const file = fileOf(root, name);
  writeShortFile(`${file}.new`, text, 0o600);
  renameSync(`${file}.new`, file);
}

/** One line. */
export function markText(name: string, { tracker, issueId }: MarkSubject, key: string): string {
  return `${JSON.stringify({ tracker, issue_id: issueId, signature: signatureOf(name, { tracker, issueId }, key) })}\n`;
}

export async function dropMark(root: string, name: string): Promise<void> {
  await rm(fileOf(root, name), { force: true });
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

function signatureOf(name: string, { tracker, issueId }: MarkSubject, key: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([name, tracker, issueId]))
    .digest('hex');
}

function sameText(a: string, b: string): boolean {
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
