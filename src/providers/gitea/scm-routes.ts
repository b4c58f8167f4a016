import { z } from 'zod';
import type { ZodType } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import { path } from '../../lib/http/index.ts';
import type { MergeStatus, RepoKey, RequestKey, ScopeCheck } from '../../ports/scm.ts';
import type { TrackerHttp } from '../shared/http.ts';
import type { PageReader } from '../shared/numbered-pages.ts';
import { recordFaultText } from '../shared/records.ts';
import type { Counts } from './client.ts';
import { issuePath, payloadError, pullPath } from './client.ts';
import type { StatusReader } from './commit-status.ts';
import { createLabels, labelNamed } from './labels.ts';
import { LABEL } from './schema.ts';
import { toMergeStatus } from './scm-map.ts';
import type { WirePull } from './scm-schema.ts';
import { ENTRIES, PERMISSIONS, PULL } from './scm-schema.ts';

/** Everything the operations share. */
export interface PullContext {
  readonly http: TrackerHttp;
  readonly reader: PageReader;
  readonly statuses: StatusReader;
  /** Inline comments by pull request, as far as earlier reads told. */
  readonly inline: Counts;
}

export async function readPull({ http, inline }: PullContext, request: RequestKey, signal: AbortSignal): Promise<WirePull> {
  const route = pullPath(request);
  // Gitea API, "Get a pull request".
  const pull = await http.getJson(PULL, { path: route }, signal);
  inline.raise(route, pull.review_comments);
  return pull;
}

export async function readMergeStatus(context: PullContext, request: RequestKey, signal: AbortSignal): Promise<MergeStatus> {
  return toMergeStatus(await readPull(context, request, signal));
}

export async function removeLabel(reader: PageReader, request: RequestKey, label: string, signal: AbortSignal): Promise<void> {
  const { http } = reader;
  const id = String(request.number);
  const route = `${issuePath(request, id)}/labels`;
  // Gitea API, "Get an issue's labels".
  const carried = http.records(LABEL, await http.getJson(ENTRIES, { path: route }, signal), route);
  const matching = carried.filter((one) => labelNamed(label, [one]));
  await createLabels(reader, request).detach(id, matching, signal);
}

/** The role of the user can rule a merge out. It cannot promise one: what the token may do shows only when it is tried. */
export async function checkMergeScope(http: TrackerHttp, { owner, repo }: RepoKey, signal: AbortSignal): Promise<ScopeCheck> {
  try {
    // Gitea API, "Get a repository".
    const { permissions } = await http.getJson(PERMISSIONS, { path: path`/repos/${owner}/${repo}` }, signal);
    if (permissions?.push === false) {
      return { mayMerge: 'no', detail: `the user of the token may not push to ${owner}/${repo}: give that user write access` };
    }
    return { mayMerge: 'unknown', detail: 'the remote does not tell the scopes of a token; merging needs write:repository' };
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    return { mayMerge: 'unknown', detail: `the permissions could not be read: ${error.message}` };
  }
}

/** As a whole: what cannot be read is not left out. */
export function parseAll<T>(schema: ZodType<T>, entries: readonly unknown[], route: string): readonly T[] {
  const parsed = z.array(schema).safeParse(entries);
  if (parsed.success) return parsed.data;
  throw payloadError('GET', route, `unexpected answer: ${recordFaultText(parsed.error)}`);
}
