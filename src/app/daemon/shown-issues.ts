import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Event } from '../../domain/model/event.ts';
import type { Issue } from '../../domain/model/issue.ts';
import { CANDIDATES_PER_SLICE } from '../../domain/model/poll.ts';
import type { KnownSecrets } from '../secrets.ts';

type Secrets = Pick<KnownSecrets, 'mask' | 'count'>;

/**
 * Gives the candidates of a poll what is kept and shown of them: title and address without secrets. Agents and the tracker get
 * the text itself. A long list is walked in slices, and of one that was looked at before nothing is looked at again.
 */
export function createShownIssues({ mask, count }: Secrets): (issues: readonly Issue[]) => Promise<readonly Issue[]> {
  let known = new WeakMap<Issue, Issue>();
  let secrets = 0;
  return async (issues) => {
    if (count() !== secrets) [known, secrets] = [new WeakMap(), count()];
    let changed: Issue[] | null = null;
    let looked = 0;
    for (const [index, issue] of issues.entries()) {
      const before = known.get(issue);
      const shown = before ?? withShown(issue, mask);
      if (before === undefined) known.set(issue, shown);
      if (shown !== issue) (changed ??= issues.slice())[index] = shown;
      looked += before === undefined ? 1 : 0;
      if (looked === CANDIDATES_PER_SLICE) {
        looked = 0;
        await nextTurn();
      }
    }
    return changed ?? issues;
  };
}

/** The same for an issue that is read by itself. */
export function withShownIssue(event: Event, { mask }: Secrets): Event {
  if ((event.type !== 'candidate-read' && event.type !== 'issue-read') || !event.issue.ok || event.issue.value === null)
    return event;
  return { ...event, issue: { ok: true, value: withShown(event.issue.value, mask) } };
}

function withShown(issue: Issue, mask: (text: string) => string): Issue {
  const { title, url } = issue;
  const both = `${title}\n${url}`;
  return mask(both) === both ? issue : { ...issue, shown: { title: mask(title), url: mask(url) } };
}
