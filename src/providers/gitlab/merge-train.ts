import { TrackerError } from '../../domain/model/errors.ts';
import { whenMissing } from '../shared/failures.ts';
import { queueUnread } from '../shared/queue-unread.ts';
import { ANY_JSON } from './client.ts';
import type { Project } from './routes.ts';
import type { RequestContext } from './scm-routes.ts';
import type { WireProjectFacts } from './scm-schema.ts';
import { PROJECT_FACTS, TRAIN_CAR } from './scm-schema.ts';
import { KIND } from './settings.ts';

export function readProject({ http, route }: Project, signal: AbortSignal): Promise<WireProjectFacts> {
  // GitLab API, "Projects API".
  return http.getJson(PROJECT_FACTS, { path: route }, signal);
}

/**
 * Whether the project merges by trains. One that the token may not see has none for it, and an edition without them says
 * nothing. Any other failure is no such answer: a merge would go past the train.
 */
export async function hasTrains(project: Project, signal: AbortSignal): Promise<boolean> {
  try {
    return (await readProject(project, signal)).merge_trains_enabled === true;
  } catch (error) {
    if (!(error instanceof TrackerError) || (error.status !== 403 && error.status !== 404))
      throw queueUnread('whether the project has merge trains', error);
    project.logger.debug('project could not be read before a merge', { tracker_kind: KIND, error: error.message });
    return false;
  }
}

/** Merge trains API, "Add a merge request to a merge train". The remote compares the head. */
export async function enterTrain(context: RequestContext, body: object, signal: AbortSignal): Promise<void> {
  // GitLab API, "Merge trains API": adding a merge request.
  await context.http.sendJson('POST', ANY_JSON, { path: carRoute(context), body }, signal);
}

/** Merge trains API, "Get the status of a merge request on a merge train". One that left it is not found, or is merged. */
export async function isOnTrain(context: RequestContext, signal: AbortSignal): Promise<boolean> {
  // GitLab API, "Merge trains API": status of a merge request.
  const car = await whenMissing(context.http.getJson(TRAIN_CAR, { path: carRoute(context) }, signal), null);
  return car !== null && !['merged', 'skip_merged'].includes(car.status ?? '');
}

function carRoute({ route, number }: RequestContext): string {
  return `${route}/merge_trains/merge_requests/${number}`;
}
