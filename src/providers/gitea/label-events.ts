import type { LabelEvent, RequestKey } from '../../ports/scm.ts';
import { readNumbered } from '../shared/numbered-pages.ts';
import { instantOf } from '../shared/rfc3339.ts';
import { issuePath, payloadError, pullPath } from './client.ts';
import { byTime, toLabelEvent } from './scm-map.ts';
import type { PullContext } from './scm-routes.ts';
import { parseAll } from './scm-routes.ts';
import { ENTRIES, LABEL_ENTRY } from './scm-schema.ts';

/** The additions and removals of labels, oldest first. */
export async function readLabelEvents(
  { http, reader, inline }: PullContext,
  request: RequestKey,
  signal: AbortSignal,
): Promise<readonly LabelEvent[]> {
  // Gitea API, "List all comments and events on an issue".
  const route = `${issuePath(request, String(request.number))}/timeline`;
  // Inline comments take up room in the pages and are then taken out of them.
  const hidden = inline.get(pullPath(request));
  const found = await readNumbered(
    reader,
    { path: route, hidden, entries: (answer) => http.decode('GET', ENTRIES, answer) },
    signal,
  );
  const events = parseAll(LABEL_ENTRY, found.filter(isLabelEntry), route).flatMap((entry) => {
    const at = entry.created_at;
    // Never replaced: a command would be missed, or obeyed twice.
    if (typeof at !== 'string' || instantOf(at) === null) {
      throw payloadError('GET', route, `timeline entry ${entry.id} has a created_at that is no RFC 3339 time`);
    }
    return toLabelEvent(entry, at) ?? [];
  });
  return events.toSorted(byTime);
}

function isLabelEntry(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && 'type' in entry && entry.type === 'label';
}
