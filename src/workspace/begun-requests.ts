import { rmSync } from 'node:fs';
import path from 'node:path';
import { TrackerError } from '../domain/model/errors.ts';
import { pushedCommit, type Repository } from '../git/index.ts';
import { makeDirectoriesNow } from '../lib/make-directories.ts';
import { readShortFile, replaceShortFile } from '../lib/short-file.ts';
import type { OpenRequest, OverRequest, RepoKey, RequestOpener } from '../ports/scm.ts';

/**
 * The requests that were open when runs began: one that a person merges or closes meanwhile is not opened again. Kept in
 * files, since a run that a restart or a failure cut off is gone on with by the next.
 */
export interface BegunRequests {
  /** Before a run on this branch. */
  begin(branch: string, signal: AbortSignal): Promise<void>;
  /** The request that was open then and is not any more. */
  overSince(branch: string, signal: AbortSignal): Promise<OverRequest | null>;
  /** The run was delivered: the next one does not go on with it. With the request that there is now, as far as there is one. */
  settle(branch: string, now?: OpenRequest): void;
  /** The work begins anew. */
  forget(branch: string): void;
}

/** Where none can be known here. */
export const NONE_BEGUN: BegunRequests = {
  begin: () => Promise.resolve(),
  overSince: () => Promise.resolve(null),
  settle: () => {},
  forget: () => {},
};

interface Parts {
  readonly repository: Repository;
  readonly opener: RequestOpener;
  readonly project: RepoKey;
}

export function createBegunRequests({ repository, opener, project }: Parts): BegunRequests {
  const folder = path.join(path.dirname(repository.control), 'requests');
  const fileOf = (branch: string): string => path.join(folder, encodeURIComponent(branch));
  const forget = (branch: string): void => rmSync(fileOf(branch), { force: true });
  const put = (branch: string, { number, url }: OpenRequest, isSettled: boolean): void => {
    makeDirectoriesNow(folder, 0o700);
    replaceShortFile(fileOf(branch), JSON.stringify({ number, url, isSettled }));
  };
  return {
    async begin(branch, signal) {
      if ((await pushedCommit(repository, branch, signal)) === null) return forget(branch);
      const before = readNote(fileOf(branch));
      const found = await opener.find({ ...project, branch }, signal).catch(unknownIfAway);
      signal.throwIfAborted();
      const open = found === UNKNOWN ? before : found;
      if (open !== null) put(branch, open, false);
      else if (before?.isSettled !== false) forget(branch);
    },
    async overSince(branch, signal) {
      const before = readNote(fileOf(branch));
      if (before === null) return null;
      // A list may run behind: the request is asked itself.
      const { number, url } = before;
      const end = await opener.endOf({ ...project, number }, signal);
      return end === null ? null : { number, url, end };
    },
    settle(branch, now) {
      const request = now ?? readNote(fileOf(branch));
      if (request !== null) put(branch, request, true);
    },
    forget,
  };
}

interface Note extends OpenRequest {
  readonly isSettled: boolean;
}

/** Null where there is none. */
function readNote(file: string): Note | null {
  const { number, url, isSettled } = parsed(readShortFile(file) ?? '');
  return typeof number === 'number' && typeof url === 'string' ? { number, url, isSettled: isSettled === true } : null;
}

function parsed(text: string): Partial<Record<keyof Note, unknown>> {
  try {
    return JSON.parse(text) as Partial<Record<keyof Note, unknown>>;
  } catch {
    return {};
  }
}

const UNKNOWN = 'unknown';

/** A forge that cannot be asked holds up no run. */
function unknownIfAway(error: unknown): typeof UNKNOWN {
  if (error instanceof TrackerError) return UNKNOWN;
  throw error;
}
