import { z } from 'zod';
import type { CheckRun } from '../../ports/ci.ts';
import { path } from '../../lib/http/index.ts';
import { PAGE_SIZE } from './settings.ts';
import type { Project } from './routes.ts';
import type { WireCommitStatus } from './scm-schema.ts';
import { COMMIT_STATUS } from './scm-schema.ts';

type Meaning = Pick<CheckRun, 'conclusion' | 'status'>;

/** What the status of an entry means. A failure that is allowed has a row of its own. */
export const STATUS_MEANINGS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['success', { conclusion: 'success', status: 'completed' }],
  ['failed', { conclusion: 'failure', status: 'completed' }],
  ['canceled', { conclusion: 'cancelled', status: 'completed' }],
  ['skipped', { conclusion: 'skipped', status: 'completed' }],
  ['manual', { conclusion: 'neutral', status: 'completed' }],
  ['created', { conclusion: 'pending', status: 'queued' }],
  ['pending', { conclusion: 'pending', status: 'queued' }],
  ['waiting_for_resource', { conclusion: 'pending', status: 'queued' }],
  ['waiting_for_callback', { conclusion: 'pending', status: 'queued' }],
  ['preparing', { conclusion: 'pending', status: 'queued' }],
  ['scheduled', { conclusion: 'pending', status: 'queued' }],
  ['running', { conclusion: 'pending', status: 'in progress' }],
  ['canceling', { conclusion: 'pending', status: 'in progress' }],
]);
const ALLOWED_FAILURE: Meaning = { conclusion: 'neutral', status: 'completed' };
/** Nobody knows what it means, so nothing may be decided on it. */
const UNRECOGNIZED: Meaning = { conclusion: 'pending', status: 'in progress' };

export function toCheckRun(wire: WireCommitStatus): CheckRun {
  return { name: wire.name ?? '', ...meaningOf(wire), detailsUrl: wire.target_url ?? '' };
}

function meaningOf({ status, allow_failure }: WireCommitStatus): Meaning {
  if (status === 'failed' && allow_failure === true) return ALLOWED_FAILURE;
  return STATUS_MEANINGS.get(status ?? '') ?? UNRECOGNIZED;
}

/** Each status word that has no meaning here, with how often it came. */
export function unrecognizedStatuses(wires: readonly WireCommitStatus[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { status } of wires) {
    const word = status ?? '';
    if (!STATUS_MEANINGS.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/**
 * All entries of one pipeline. The remote is asked for this pipeline only, and what it sends of another one nevertheless
 * is discarded: a server that does not know the parameter ignores it. The commit must be named in full: of an abbreviated
 * one the list is empty, not an error.
 */
export async function readPipelineStatuses(
  { http, route }: Project,
  { sha, pipelineId }: { sha: string; pipelineId: number },
  signal: AbortSignal,
): Promise<readonly WireCommitStatus[]> {
  const query = { pipeline_id: pipelineId, per_page: PAGE_SIZE };
  // GitLab API, "Commits API": commit statuses.
  const pages = await http.getPages(PAGE, { path: route + path`/repository/commits/${sha}/statuses`, query }, signal);
  return pages.flat().filter(({ pipeline_id }) => pipeline_id === pipelineId);
}

const PAGE = z.array(COMMIT_STATUS);
