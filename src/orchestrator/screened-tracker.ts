import { TrackerError } from '../domain/model/errors.ts';
import { faultOf } from '../domain/model/fault.ts';
import type { Issue, IssueComment, Person } from '../domain/model/issue.ts';
import type { TrackerSettings } from '../domain/model/settings.ts';
import { isTrusted } from '../domain/rules/trust.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import type { People, Tracker } from '../ports/tracker.ts';

export interface ScreenDeps {
  readonly settings: Pick<TrackerSettings, 'authors' | 'approvalLabel'>;
  /** The kind tells who may write to the project. */
  readonly tellsCollaborators: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** One text for another, as good as unique. */
  readonly digest: (text: string) => string;
}

/** At most so many people are asked about for one list: the rest is for a later poll. */
const ASKED_PER_LIST = 20;

/**
 * The same tracker as seen by those who trust only some of the people there: authors carry whether they may write, and a
 * whole issue has only the comments that count, with a digest of what an approval would approve.
 */
export function screenPeople(tracker: Tracker, deps: ScreenDeps): Tracker {
  const { authors, approvalLabel } = deps.settings;
  if (authors === 'anyone' && approvalLabel === null) return tracker;
  // A comment that nobody approved must not reach a prompt behind the back of the approval.
  const heard = authors === 'anyone' && deps.tellsCollaborators ? 'collaborators' : authors;
  const people = createPeople(tracker.people, deps);
  return {
    ...tracker,
    async fetchCandidateIssues(signal) {
      const issues = await tracker.fetchCandidateIssues(signal);
      return authors === 'collaborators' ? withAuthors(issues, people, signal) : issues;
    },
    async fetchIssueById(id, signal) {
      const issue = await tracker.fetchIssueById(id, signal);
      const author = authors === 'collaborators' ? await people.known(issue.author, signal) : issue.author;
      const comments = await trustedComments(issue.comments ?? [], heard, people, signal);
      const read: Issue = { ...issue, ...(author ? { author } : {}), comments };
      if (approvalLabel === null || !issue.labels.includes(approvalLabel)) return read;
      const self = await people.self(signal);
      const digest = deps.digest(textOf(read, comments, self));
      return { ...read, approvable: { digest, labelling: await labellingOf(tracker, id, approvalLabel, deps, signal) } };
    },
  };
}

/** Fills in who may write, from what is known and by asking about a few more. */
async function withAuthors(issues: readonly Issue[], people: KnownPeople, signal: AbortSignal): Promise<readonly Issue[]> {
  let left = ASKED_PER_LIST;
  const screened: Issue[] = [];
  for (const issue of issues) {
    const { author } = issue;
    const isAsked = author !== null && author !== undefined && people.mustAsk(author);
    if (isAsked) left -= 1;
    if (!author || (isAsked && left < 0)) screened.push(issue);
    else screened.push({ ...issue, author: (await people.known(author, signal)) ?? author });
  }
  return screened;
}

async function trustedComments(
  comments: readonly IssueComment[],
  heard: TrackerSettings['authors'],
  people: KnownPeople,
  signal: AbortSignal,
): Promise<readonly IssueComment[]> {
  if (heard === 'anyone') return comments;
  const trusted: IssueComment[] = [];
  for (const comment of comments) {
    const writer = heard === 'collaborators' ? await people.certain(comment.writer, signal) : comment.writer;
    if (isTrusted(heard, writer)) trusted.push(comment);
  }
  return trusted;
}

/** What is approved: title, description and comments, without our own. */
function textOf({ title, description }: Issue, comments: readonly IssueComment[], self: string | null): string {
  const others = comments.filter(({ writer }) => self === null || writer?.id !== self);
  return JSON.stringify([title, description, others.map(({ id, body }) => [id, body])]);
}

/** Empty where it cannot be read: then only a look without the label tells that it was set again. */
async function labellingOf(
  tracker: Tracker,
  id: string,
  label: string,
  { logger }: ScreenDeps,
  signal: AbortSignal,
): Promise<string> {
  try {
    return (await tracker.readLabelling?.(id, label, signal)) ?? '';
  } catch (error) {
    signal.throwIfAborted();
    const facts = { issue_id: id, label, error: faultOf(error).message };
    logger.debug('it could not be read when the approval label was set', facts);
    return '';
  }
}

/** Who it is about, where anybody is. */
type Asked = Person | null | undefined;

interface KnownPeople {
  /** Whether a request is needed to know. */
  mustAsk(person: Person): boolean;
  known(person: Asked, signal: AbortSignal): Promise<Person | null>;
  /** The same; what may heal fails instead, so that a comment is not left out by chance. */
  certain(person: Asked, signal: AbortSignal): Promise<Person | null>;
  /** Our own account, or null where the tracker does not tell. What may heal fails instead: a digest with our own words in it stays. */
  self(signal: AbortSignal): Promise<string | null>;
}

const REMEMBERED_MS = 3_600_000;
const MAX_REMEMBERED = 10_000;

/** What was learnt of a person holds for an hour; a failure holds for nothing and is told once per cause. */
function createPeople(people: People | undefined, { clock, logger }: ScreenDeps): KnownPeople {
  const memory = createMemory(clock);
  const told = new Set<string>();
  let own: string | null = null;

  const warnOnce = (message: string, error: string): void => {
    const warning = `${message}: ${error}`;
    if (told.has(warning)) return;
    if (told.size >= MAX_REMEMBERED) told.clear();
    told.add(warning);
    logger.warn(message, { error });
  };
  const ask = async (person: Person, signal: AbortSignal): Promise<Person> => {
    const known = person.mayWrite ?? memory.recall(person.id);
    if (known !== undefined) return { ...person, mayWrite: known };
    if (!people?.mayWrite) return person;
    const mayWrite = await people.mayWrite(person, signal);
    memory.keep(person.id, mayWrite);
    return { ...person, mayWrite };
  };
  const learn = async (person: Asked, { isNeeded }: { isNeeded: boolean }, signal: AbortSignal): Promise<Person | null> => {
    if (!person) return null;
    try {
      return await ask(person, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isNeeded && error instanceof TrackerError && error.retryable) throw error;
      const whyUnknown = faultOf(error).message;
      warnOnce('it could not be read who may write to the project: their word does not count until it can', whyUnknown);
      return { ...person, whyUnknown };
    }
  };
  return {
    mustAsk: ({ id, mayWrite }) => mayWrite === null && people?.mayWrite !== undefined && memory.recall(id) === undefined,
    known: (person, signal) => learn(person, { isNeeded: false }, signal),
    certain: (person, signal) => learn(person, { isNeeded: true }, signal),
    async self(signal) {
      if (own !== null || !people) return own;
      try {
        own = await people.readSelf(signal);
      } catch (error) {
        signal.throwIfAborted();
        const { message } = faultOf(error);
        if (error instanceof TrackerError && error.retryable) {
          warnOnce('our own account could not be read for now: approved issues wait until it can', message);
          throw error;
        }
        warnOnce('our own account could not be read: our comments count as a change of an approved issue', message);
      }
      return own;
    },
  };
}

/** Who may write, by person, for as long as that holds. */
function createMemory(clock: Clock) {
  const remembered = new Map<string, { readonly mayWrite: boolean; readonly until: number }>();
  return {
    recall(id: string): boolean | undefined {
      const entry = remembered.get(id);
      return entry && entry.until > clock.now() ? entry.mayWrite : undefined;
    },
    keep(id: string, mayWrite: boolean): void {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(id, { mayWrite, until: clock.now() + REMEMBERED_MS });
    },
  };
}
