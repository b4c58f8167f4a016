import { TrackerError } from '../domain/model/errors.ts';
import { pushedCommit, type Repository } from '../git/index.ts';
import type { OpenRequest, OverRequest, RepoKey, RequestOpener } from '../ports/scm.ts';

/** The requests that were open when runs began: one that a person merges or closes meanwhile is not opened again. */
export interface BegunRequests {
  /** Before a run on this branch. */
  begin(branch: string, signal: AbortSignal): Promise<void>;
  /** The request that was open then and is not any more. */
  overSince(branch: string, signal: AbortSignal): Promise<OverRequest | null>;
}

/** Where none can be known here. */
export const NONE_BEGUN: BegunRequests = { begin: () => Promise.resolve(), overSince: () => Promise.resolve(null) };

interface Parts {
  readonly repository: Repository;
  readonly opener: RequestOpener;
  readonly project: RepoKey;
}

export function createBegunRequests({ repository, opener, project }: Parts): BegunRequests {
  const open = new Map<string, OpenRequest>();
  return {
    async begin(branch, signal) {
      open.delete(branch);
      if ((await pushedCommit(repository, branch, signal)) === null) return;
      const found = await opener.find({ ...project, branch }, signal).catch(noneKnown);
      signal.throwIfAborted();
      if (found !== null) open.set(branch, found);
    },
    async overSince(branch, signal) {
      const before = open.get(branch);
      if (before === undefined) return null;
      // A list may run behind: the request is asked itself.
      const end = await opener.endOf({ ...project, number: before.number }, signal);
      return end === null ? null : { ...before, end };
    },
  };
}

/** A forge that cannot be asked holds up no run. */
function noneKnown(error: unknown): null {
  if (error instanceof TrackerError) return null;
  throw error;
}
