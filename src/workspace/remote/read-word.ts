import path from 'node:path';
import { WorkspaceError } from '../../domain/model/errors.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { WorkspaceSubject } from '../../ports/workspace.ts';
import { ignoredFacts } from '../data-file.ts';
import { isWorkspaceKey } from '../key.ts';
import type { FarHost } from './run-far.ts';
import { READ_WORD } from './scripts.ts';

interface FarReader {
  readonly host: FarHost;
  readonly logger: Logger;
  run(text: string, args: readonly string[], signal: AbortSignal): Promise<string>;
}

interface WordAsked {
  readonly subject: WorkspaceSubject;
  readonly workspace: string;
  readonly word: string;
  readonly bytes: number;
}

const TIMEOUT_MS = 60_000;

/** What the run's agent wrote; null for nothing, for what was there before, and, aloud, for anything unusable. */
export async function readWord<T>(
  far: FarReader,
  prepared: ReadonlyMap<string, ReadonlySet<string>>,
  { subject, workspace, word, bytes }: WordAsked,
  parse: (text: string) => T,
): Promise<T | null> {
  try {
    const name = nameOf(workspace);
    const answer = (await far.run(READ_WORD, [name, word, String(bytes + 1)], AbortSignal.timeout(TIMEOUT_MS))).trim();
    if (answer === '') return null;
    if (answer === 'refused') throw new Error('it is not a regular file');
    const hex = answer.slice('file '.length);
    if (prepared.get(`${name}/${word}`)?.has(hex) === true) return null;
    if (hex.length > 2 * bytes && word !== 'status') throw new Error(`it is longer than ${bytes} bytes`);
    return parse(textOf(hex.slice(0, 2 * bytes)));
  } catch (error) {
    const message = `${word === 'status' ? 'status' : 'scm'} file ignored`;
    far.logger.warn(message, ignoredFacts(subject, `${far.host.name}:${workspace}`, error));
    return null;
  }
}

/** Workspaces are handed around as paths: only a name that can be ours is touched. */
function nameOf(workspace: string): string {
  const name = path.posix.basename(workspace);
  if (isWorkspaceKey(name)) return name;
  throw new WorkspaceError('refused', `${workspace} is not a workspace under the root`, { retryable: false });
}

/** Of what a script printed in hexadecimal digits. */
export function textOf(hex: string): string {
  return Buffer.from(hex, 'hex').toString('utf8');
}
