import type { ScmConnection } from '../../domain/model/settings.ts';
import type { CiProvider } from '../../ports/ci.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { RepoKey } from '../../ports/scm.ts';
import { isFailing } from '../shared/ci-aggregate.ts';
import { logTail } from '../shared/log-excerpt.ts';
import type { CommitCheck } from './commit-status.ts';
import { createClient } from './client.ts';
import { createCommitChecks } from './commit-status.ts';
import { createJobLog, type ReadJobLog } from './job-log.ts';
import { scmRemedies } from './scm-routes.ts';
import { KIND, readScmSettings } from './settings.ts';

/** The checks of a commit, by branch or commit. Makes no request. */
export function createCi(connection: ScmConnection, deps: ProviderDeps): CiProvider {
  const access = readScmSettings(connection);
  const http = createClient(access, deps, { remedies: scmRemedies(connection) });
  const readChecks = createCommitChecks(http, deps.logger);
  const readJobLog = createJobLog(access, http, deps);
  return {
    kind: KIND,
    readCi: async ({ owner, repo, ref, maxLogLines }, signal) => {
      const { checks, status, failingCount } = await readChecks({ owner, repo }, ref, signal);
      const failing = checks.filter(({ run }) => isFailing(run));
      const logExcerpt = maxLogLines > 0 ? await excerptOf({ owner, repo }, failing, { readJobLog, maxLogLines }, signal) : '';
      return { status, failingCount, checkRuns: checks.map(({ run }) => run), logExcerpt, ref };
    },
  };
}

// A job's log says more than a check says of itself, wherever there is one.
async function excerptOf(
  repo: RepoKey,
  failing: readonly CommitCheck[],
  { readJobLog, maxLogLines }: { readJobLog: ReadJobLog; maxLogLines: number },
  signal: AbortSignal,
): Promise<string> {
  const jobId = failing.find((check) => check.jobId !== null)?.jobId ?? null;
  return jobId === null ? logTail(failing[0]?.says ?? '', maxLogLines) : readJobLog(repo, jobId, maxLogLines, signal);
}
