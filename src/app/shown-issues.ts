import type { Answer } from '../domain/model/errors.ts';
import type { Event } from '../domain/model/event.ts';
import type { Issue } from '../domain/model/issue.ts';

/** The event with what is kept and shown of its issues: their title and address without secrets. Agents and the tracker get the text itself. */
export function withShownIssues(event: Event, mask: (text: string) => string): Event {
  switch (event.type) {
    case 'poll-answered':
      return { ...event, candidates: mapped(event.candidates, (issues) => issues.map((issue) => withShown(issue, mask))) };
    case 'candidate-read':
    case 'issue-read':
      return { ...event, issue: mapped(event.issue, (issue) => issue && withShown(issue, mask)) };
    default:
      return event;
  }
}

function mapped<T>(answer: Answer<T>, map: (value: T) => T): Answer<T> {
  return answer.ok ? { ok: true, value: map(answer.value) } : answer;
}

/** A hundred thousand may be looked at in one go, and nearly none of them holds a secret. */
function withShown(issue: Issue, mask: (text: string) => string): Issue {
  const { title, url } = issue;
  const both = `${title}\n${url}`;
  return mask(both) === both ? issue : { ...issue, shown: { title: mask(title), url: mask(url) } };
}
