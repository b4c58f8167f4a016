import type { Answer } from '../../domain/model/errors.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { ScopeCheck } from '../../domain/model/merge-request.ts';
import type { CiProvider } from '../../ports/ci.ts';
import type { RepoKey, ScmAdapter } from '../../ports/scm.ts';
import { answer } from '../answer.ts';

/** The merge-request side of the workflow in force. */
export interface Forge {
  readonly scm: ScmAdapter;
  readonly ci: CiProvider;
  /** Whether our credential may merge; asked once for the life of the process. */
  checkScope(repo: RepoKey, signal: AbortSignal): Promise<Answer<ScopeCheck>>;
  /** The account of our credential, empty where the forge does not tell; asked once for the life of the process. */
  readOwnAccount(signal: AbortSignal): Promise<Answer<string>>;
}

export function createForge(scm: ScmAdapter, ci: CiProvider): Forge {
  const scope = once((repo: RepoKey, signal: AbortSignal) => scm.checkMergeScope(repo, signal));
  const account = once(async (signal: AbortSignal) => scm.readOwnAccount(signal));
  return {
    scm,
    ci,
    checkScope: (repo, signal) => answer(scope(repo, signal)),
    readOwnAccount: (signal) => answer(account(signal)),
  };
}

/** Asks once, also when several ask together. What failed is asked again, unless the forge will always refuse. */
function once<Args extends unknown[], T>(read: (...args: Args) => Promise<T>): (...args: Args) => Promise<T> {
  let known: Promise<T> | null = null;
  return (...args) => {
    known ??= read(...args).catch((error: unknown) => {
      if (!(error instanceof TrackerError && FINAL.has(error.kind))) known = null;
      throw error;
    });
    return known;
  };
}

const FINAL: ReadonlySet<string> = new Set(['tracker_auth_error', 'tracker_not_found']);
