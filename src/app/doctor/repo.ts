import { askRemote, GitRefusal } from '../../git/index.ts';
import { finding, ok, type Finding } from './finding.ts';
import type { SurveyDeps } from '../commands/survey.ts';
import type { GoodWorkflow } from '../workflow.ts';
import { errorText } from '../../lib/error-text.ts';

/** A remote that tells nothing for so long would hold up every run. */
const REMOTE_MS = 20_000;

/**
 * Whether the repository that workspaces are filled from answers, and has the branch that work starts from. A warning: what
 * keeps the first run from its workspace today, such as a repository that is yet to be filled, may be mended before it.
 */
export async function checkRepo(
  { settings }: GoodWorkflow,
  { env }: Pick<SurveyDeps, 'env'>,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { repo } = settings.workspace;
  if (repo === null) return [];
  const { url, token, baseBranch } = repo;
  try {
    const { defaultBranch, hasBase } = await askRemote({ url, token, baseBranch, timeoutMs: REMOTE_MS }, env, signal);
    if (!hasBase) {
      const remedy = 'correct workspace.base_branch, or push that branch';
      return [finding('warning', 'workspace.base_branch', `${url} has no branch "${baseBranch}"`, remedy)];
    }
    const base = baseBranch ?? defaultBranch;
    if (base !== null) return [ok('workspace.repo', `${url} can be read; work starts from "${base}"`)];
    return [finding('warning', 'workspace.repo', `${url} names no default branch`, 'push a first commit to it')];
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof GitRefusal ? error.detail : errorText(error);
    return [finding('warning', 'workspace.repo', `${url} cannot be read: ${message}`, remedyFor(token, error))];
  }
}

function remedyFor(token: string | null, error: unknown): string {
  if (error instanceof GitRefusal && ['host_key', 'no_ssh'].includes(error.refusal))
    return 'do as the message says, for the user of the service';
  const login = token === null ? 'a key or token that may read it' : 'that its token may read it';
  return `check the address in workspace.repo and ${login}`;
}
