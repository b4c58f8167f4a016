import { faultOf, isNeverTold, type Answer } from '../../domain/model/fault.ts';
import type { ScopeCheck } from '../../domain/model/merge-request.ts';
import type { CiProvider } from '../../ports/ci.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { RepoKey, ScmAdapter } from '../../ports/scm.ts';
import { answer } from '../answer.ts';

/** The merge-request side of the workflow in force. */
export interface Forge {
  readonly scm: ScmAdapter;
  readonly ci: CiProvider;
  /** Whether our credential may merge; asked once for the life of the process. */
  checkScope(repo: RepoKey, signal: AbortSignal): Promise<Answer<ScopeCheck>>;
  /** The account of our credential, empty where the forge does not tell; asked once an hour, since accounts are renamed. */
  readOwnAccount(signal: AbortSignal): Promise<Answer<string>>;
}

const ACCOUNT_MS = 3_600_000;

export function createForge(scm: ScmAdapter, ci: CiProvider, clock: Clock): Forge {
  const scope = once((repo: RepoKey, signal: AbortSignal) => scm.checkMergeScope(repo, signal));
  const askAccount = () => once(async (signal: AbortSignal) => scm.readOwnAccount(signal));
  let account = { read: askAccount(), at: clock.now() };
  return {
    scm,
    ci,
    checkScope: (repo, signal) => answer(scope(repo, signal)),
    readOwnAccount: (signal) => {
      if (clock.now() - account.at >= ACCOUNT_MS) account = { read: askAccount(), at: clock.now() };
      return answer(account.read(signal));
    },
  };
}

/** Asks once, also when several ask together. What failed is asked again, unless the forge will always refuse. */
function once<Args extends unknown[], T>(read: (...args: Args) => Promise<T>): (...args: Args) => Promise<T> {
  let known: Promise<T> | null = null;
  return (...args) => {
    known ??= read(...args).catch((error: unknown) => {
      if (!isNeverTold(faultOf(error))) known = null;
      throw error;
    });
    return known;
  };
}
