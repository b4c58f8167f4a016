import { TrackerError } from '../../domain/model/errors.ts';
import type { ScmConnection } from '../../domain/model/settings.ts';
import { path } from '../../lib/http/index.ts';
import type { CiProvider, CiReport, CiRequest } from '../../ports/ci.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { aggregate, isFailing } from '../shared/ci-aggregate.ts';
import { logTail } from '../shared/log-excerpt.ts';
import { createClient, pageReader } from './client.ts';
import type { WireStatus } from './scm-schema.ts';
import { KIND, readScmSettings } from './settings.ts';
import { createStatusReader, toCheckRun } from './commit-status.ts';

/** CI as the statuses of a commit. There is no log to read: what a status says of itself is all there is. */
export function createCi(connection: ScmConnection, deps: ProviderDeps): CiProvider {
  const http = createClient(readScmSettings(connection), deps);
  const statuses = createStatusReader(pageReader(http, deps));
  return {
    kind: KIND,
    readCi: async (request, signal) => {
      if (request.ref.trim() === '') throw noRef(request);
      return reportOf(await statuses.read(request, request.ref, signal), request);
    },
  };
}

/** The report of a list of statuses. */
export function reportOf(
  statuses: readonly WireStatus[],
  { ref, maxLogLines }: Pick<CiRequest, 'ref' | 'maxLogLines'>,
): CiReport {
  const checkRuns = statuses.map(toCheckRun);
  const first = statuses[checkRuns.findIndex(isFailing)];
  return { ...aggregate(checkRuns), checkRuns, logExcerpt: first ? excerptOf(first, maxLogLines) : '', ref };
}

function excerptOf({ description, target_url: url }: WireStatus, maxLines: number): string {
  return logTail([description, url].filter(Boolean).join('\n'), maxLines);
}

function noRef({ owner, repo }: CiRequest): TrackerError {
  const route = path`/repos/${owner}/${repo}/commits`;
  return new TrackerError({ kind: 'tracker_payload_error', method: 'GET', path: route, detail: 'no branch or commit was named' });
}
