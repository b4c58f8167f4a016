import path from 'node:path';
import { readShortFile } from '../lib/short-file.ts';
import type { SignedRoot } from './choose-directory.ts';
import { markFile, removeMark, replaceMark, sameText, signatureOf, type MarkSubject } from './marks.ts';

/*
 * Beside the mark of a workspace, and signed like it: what was there before the first run in it that did not end well. Work
 * that a restart or a limit interrupted is thus still counted when the next run finds nothing left to do.
 */

/** In bytes: a repository may have many branches. */
const LONGEST = 4 * 1024 * 1024;

/** Signed with it: a look that was described in another way cannot be compared with one of today. */
const FORMAT = 'looks 2';

/** Null where there is none that we wrote. */
export function readWorkNote({ root, key }: SignedRoot, name: string, subject: MarkSubject): string | null {
  const [signature = '', ...lines] = (readShortFile(fileOf(root, name), LONGEST) ?? '').split('\n');
  const text = lines.join('\n');
  return sameText(signature, signatureOf(name, subject, key, `${FORMAT}\n${text}`)) ? text : null;
}

export function putWorkNote({ root, key }: SignedRoot, name: string, subject: MarkSubject, text: string): void {
  replaceMark(fileOf(root, name), `${signatureOf(name, subject, key, `${FORMAT}\n${text}`)}\n${text}`);
}

export function dropWorkNote(root: string, name: string): void {
  removeMark(fileOf(root, name));
}

function fileOf(root: string, name: string): string {
  return path.join(root, `${markFile(name)}.work`);
}
