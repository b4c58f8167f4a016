import { TrackerError } from '../../domain/model/errors.ts';
import { sameState } from '../../domain/model/issue.ts';
import type { LabelWriter } from '../../ports/tracker.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { issuePath } from './client.ts';
import type { WireIssue } from './schema.ts';
import type { Search } from './search.ts';

export interface LabelParts {
  readonly http: TrackerHttp;
  readonly search: Pick<Search, 'changed'>;
  readonly readIssue: (id: string, fields: readonly string[], signal: AbortSignal) => Promise<WireIssue>;
}

/**
 * Labels differ by case here while we compare without it, so that the carried ones are read first: a second spelling is never
 * added, and every spelling is removed. Removing one that is not there is answered like a success.
 */
export function createLabelWriter({ http, search, readIssue }: LabelParts): LabelWriter {
  const carried = async (id: string, label: string, signal: AbortSignal) => {
    const { fields } = await readIssue(id, ['labels'], signal);
    return fields.labels.filter((name) => sameState(name, label));
  };
  const update = async (id: string, labels: readonly Readonly<Record<string, string>>[], signal: AbortSignal) => {
    // Jira Cloud platform REST API, "Edit issue".
    await http.send('PUT', { path: issuePath(id), body: { update: { labels } } }, signal);
    search.changed(id);
  };
  return {
    add: async (id, label, signal) => {
      if (label.trim() === '') throw namelessLabel(id);
      if ((await carried(id, label, signal)).length === 0) await update(id, [{ add: label.trim() }], signal);
    },
    remove: async (id, label, signal) => {
      const found = await carried(id, label, signal);
      if (found.length > 0)
        await update(
          id,
          found.map((remove) => ({ remove })),
          signal,
        );
    },
  };
}

function namelessLabel(id: string): TrackerError {
  const detail = `no label was added to issue ${id}: a label needs a name`;
  return new TrackerError({ kind: 'tracker_payload_error', method: 'PUT', path: issuePath(id), detail });
}
