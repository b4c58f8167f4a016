import { TrackerError } from '../../domain/model/errors.ts';
import { sameState } from '../../domain/model/issue.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { issuePath } from './client.ts';
import type { WireIssue } from './schema.ts';
import { TRANSITION, TRANSITIONS } from './schema.ts';
import type { Search } from './search.ts';

export interface TransitionParts {
  readonly http: TrackerHttp;
  readonly search: Search;
  readonly readIssue: (id: string, fields: readonly string[], signal: AbortSignal) => Promise<WireIssue>;
}

/** Makes the move that leads to this state. */
export async function transition(parts: TransitionParts, id: string, state: string, signal: AbortSignal): Promise<void> {
  const { http, search } = parts;
  const path = `${issuePath(id)}/transitions`;
  const offered = await offeredMoves(http, id, signal);
  const chosen = offered.find(({ to }) => sameState(to.name, state));
  if (chosen) {
    // Jira Cloud platform REST API, "Transition issue".
    await http.send('POST', { path, body: { transition: { id: chosen.id } } }, signal);
    return search.changed(id);
  }
  // A move that was made already, perhaps by a call whose answer got lost, is not offered again.
  if (await isIn(parts, id, state, signal)) return search.changed(id);
  const targets = [...new Set(offered.map(({ to }) => JSON.stringify(to.name)))].join(', ') || 'none';
  throw new TrackerError({
    kind: 'tracker_payload_error',
    method: 'POST',
    path,
    detail: `the workflow offers no transition of issue ${id} to ${JSON.stringify(state)}; available targets: ${targets}`,
  });
}

/** What the workflow offers for an issue as it is now. */
export async function offeredMoves(http: TrackerHttp, id: string, signal: AbortSignal) {
  const path = `${issuePath(id)}/transitions`;
  // Jira Cloud platform REST API, "Get transitions".
  const { transitions } = await http.getJson(TRANSITIONS, { path }, signal);
  return http.records(TRANSITION, transitions ?? [], path);
}

async function isIn({ readIssue }: TransitionParts, id: string, state: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { fields } = await readIssue(id, ['status'], signal);
    return sameState(fields.status?.name ?? '', state);
  } catch (error) {
    if (error instanceof TrackerError) return false;
    throw error;
  }
}
