import type { Answer } from '../../domain/model/answer.ts';
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
}

export function createForge(scm: ScmAdapter, ci: CiProvider): Forge {
  let known: ScopeCheck | null = null;
  return {
    scm,
    ci,
    async checkScope(repo, signal) {
      if (known !== null) return { ok: true, value: known };
      const checked = await answer(scm.checkMergeScope(repo, signal));
      if (checked.ok) known = checked.value;
      return checked;
    },
  };
}
