import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import type { Blocker } from '../../domain/model/issue.ts';
import type { HttpResponse } from '../../lib/http/index.ts';
import { path } from '../../lib/http/index.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { RepoKey } from '../../ports/scm.ts';
import type { BlockerReader } from '../../ports/tracker.ts';
import type { LabelStateRule } from '../shared/label-state.ts';
import type { PageReader } from '../shared/numbered-pages.ts';
import { readNumbered } from '../shared/numbered-pages.ts';
import { recordFaultText } from '../shared/records.ts';
import { issuePath } from './client.ts';
import { toBlocker } from './map.ts';
import { ISSUES, REPOSITORY } from './schema.ts';
import { KIND } from './settings.ts';

export interface BlockersParts {
  readonly reader: PageReader;
  readonly repository: RepoKey;
  readonly rule: LabelStateRule;
  readonly clock: Clock;
}

/** How long it is taken for granted that a repository has its dependencies switched off. */
const OFF_MS = 300_000;
const LIST = z.array(z.unknown());

/**
 * Reads the blockers of one issue. A repository whose dependencies are switched off answers 404 for every issue, as it does
 * for an issue that is not there: only what the repository says of itself tells the two apart. Then nothing blocks.
 */
export function createBlockers(parts: BlockersParts): BlockerReader {
  const { reader, repository, rule, clock } = parts;
  let offUntil = 0;
  let told = false;
  return {
    read: async (id, signal) => {
      const route = `${issuePath(repository, id)}/dependencies`;
      if (clock.now() < offUntil) return [];
      try {
        return await readDependencies(reader, route, (wire) => toBlocker(wire, rule, repository), signal);
      } catch (error) {
        if (!(error instanceof TrackerError) || error.status !== 404 || !(await isOff(parts, signal))) throw error;
      }
      offUntil = clock.now() + OFF_MS;
      if (!told) {
        const facts = { tracker_kind: KIND, project: `${repository.owner}/${repository.repo}` };
        reader.logger.warn('repository has its issue dependencies switched off, no issue is held for a blocker', facts);
      }
      told = true;
      return [];
    },
  };
}

// Gitea API, "List an issue's dependencies". Newer servers link to the next page, older ones only cut the list.
async function readDependencies(
  reader: PageReader,
  route: string,
  map: (wire: z.output<typeof ISSUES>[number]) => Blocker,
  signal: AbortSignal,
): Promise<readonly Blocker[]> {
  const entries = (response: HttpResponse) => reader.http.decode('GET', LIST, response);
  const found = await readNumbered(reader, { path: route, entries, linked: true, pageCap: 200 }, signal);
  // Decoded as a whole: a blocker that cannot be read must hold the issue, not vanish.
  const parsed = ISSUES.safeParse(found);
  if (parsed.success) return parsed.data.map(map);
  const detail = `unexpected answer: ${recordFaultText(parsed.error)}`;
  throw new TrackerError({ kind: 'tracker_payload_error', method: 'GET', path: route, detail });
}

// Gitea API, "Get a repository".
async function isOff({ reader, repository: { owner, repo } }: BlockersParts, signal: AbortSignal): Promise<boolean> {
  try {
    const { internal_tracker: tracker } = await reader.http.getJson(REPOSITORY, { path: path`/repos/${owner}/${repo}` }, signal);
    return tracker?.enable_issue_dependencies === false;
  } catch (error) {
    if (error instanceof TrackerError) return false;
    throw error;
  }
}
