import { z } from 'zod';
import type { HttpResponse } from '../../lib/http/index.ts';
import { path } from '../../lib/http/index.ts';
import type { CheckRun } from '../../ports/ci.ts';
import type { RepoKey } from '../../ports/scm.ts';
import type { PageReader } from '../shared/numbered-pages.ts';
import { readNumbered } from '../shared/numbered-pages.ts';
import type { WireStatus } from './scm-schema.ts';
import { COMBINED_STATUS, COMMIT_STATUS } from './scm-schema.ts';
import { KIND } from './settings.ts';

type Outcome = Pick<CheckRun, 'status' | 'conclusion'>;

/** The statuses of the remote and what each means for a check run. One that is not listed is still in progress. */
export const COMMIT_STATUSES: Readonly<Record<string, Outcome>> = {
  success: { status: 'completed', conclusion: 'success' },
  warning: { status: 'completed', conclusion: 'neutral' },
  pending: { status: 'in progress', conclusion: 'pending' },
  failure: { status: 'completed', conclusion: 'failure' },
  error: { status: 'completed', conclusion: 'failure' },
};
const UNKNOWN: Outcome = { status: 'in progress', conclusion: 'pending' };

export interface StatusReader {
  /** Every status of a commit, which may be named by its SHA or by a branch. */
  read(repo: RepoKey, ref: string, signal: AbortSignal): Promise<readonly WireStatus[]>;
}

/** Warns of each value that is not known once. */
export function createStatusReader(reader: PageReader): StatusReader {
  const told = new Set<string>();
  const warnOfUnknown = (statuses: readonly WireStatus[]): void => {
    for (const value of new Set(statuses.map(({ status }) => nameOf(status)))) {
      if (isKnown(value) || told.has(value) || told.size >= 100) continue;
      told.add(value);
      const count = statuses.filter(({ status }) => nameOf(status) === value).length;
      reader.logger.warn('commit status is not known, it counts as pending', { tracker_kind: KIND, status: value, count });
    }
  };
  return {
    read: async ({ owner, repo }, ref, signal) => {
      // Gitea API, "Get a commit's combined status, by branch/tag/commit reference".
      const route = path`/repos/${owner}/${repo}/commits/${ref}/status`;
      const entries = (response: HttpResponse) => entriesOf(reader, response);
      const statuses = z.array(COMMIT_STATUS).parse(await readNumbered(reader, { path: route, entries }, signal));
      warnOfUnknown(statuses);
      return statuses;
    },
  };
}

export function toCheckRun({ status, context, target_url: url }: WireStatus): CheckRun {
  const value = nameOf(status);
  const outcome = isKnown(value) ? COMMIT_STATUSES[value] : undefined;
  return { name: context ?? '', ...(outcome ?? UNKNOWN), detailsUrl: url ?? '' };
}

// Older servers answer 200 without a body where a page has no statuses.
function entriesOf({ http }: PageReader, response: HttpResponse): readonly unknown[] {
  return response.body.trim() === '' ? [] : http.decode('GET', COMBINED_STATUS, response).statuses;
}

function nameOf(status: WireStatus['status']): string {
  return (status ?? '').toLowerCase().slice(0, 64);
}

function isKnown(value: string): boolean {
  return Object.hasOwn(COMMIT_STATUSES, value);
}
