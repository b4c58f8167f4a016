import type { EventNamed } from '../../src/domain/model/event.ts';
import { stateIn, type Blocker, type Issue, type IssueComment, type Person } from '../../src/domain/model/issue.ts';
import type { Spent } from '../../src/domain/model/run.ts';
import type { Settings } from '../../src/domain/model/settings.ts';
import { inDispatchOrder } from '../../src/domain/rules/dispatch-order.ts';
import { isTrusted } from '../../src/domain/rules/trust.ts';
import { issueWith } from '../support/issues.ts';
import type { Chance } from '../support/random.ts';
import type { ForgePlace } from './forge.ts';

/** The issues of one tracker, in the hands of people: colleagues, and strangers whose word may not count. */
export interface Board {
  readonly issues: ReadonlyMap<string, Issue>;
  /** What the tracker took, in order: `<issue id>><state>`. */
  readonly transitions: readonly string[];
  candidates(): readonly Issue[];
  states(ids: readonly string[]): ReadonlyMap<string, string>;
  /** Those of them that somebody closed, whose labels stay. */
  closed(ids: readonly string[]): ReadonlySet<string>;
  readWhole(issue: Issue): Issue;
  move(id: string, state: string): void;
  /** What a handoff comes to, with the state read once more before it. */
  handOff(id: string, target: string, settings: Settings): HandoffOutcome;
  approve(issue: Issue): void;
  /** Somebody opens, deletes, moves, closes or rewrites an issue. The id of one that was moved. */
  edit(): string | null;
}

export type HandoffOutcome = EventNamed<'handoff-answered'>['outcome'];

/** Whose world it is: the tracker, and where its merge requests are. */
export interface Place extends ForgePlace {
  readonly identity: string;
}

/** The first of two trackers that know nothing of each other, and have issues and requests of the same numbers. */
export const HERE: Place = { identity: 'file /here.json', owner: 'o', repo: 'r', foreign: { owner: 'p', repo: 's' } };
export const THERE: Place = { identity: 'file /there.json', owner: 'p', repo: 's', foreign: { owner: 'o', repo: 'r' } };

/** What a world has to know of the rest. */
export interface Surroundings {
  readonly place: Place;
  /** The settings in force: what is read is screened by them. */
  readonly settings: () => Settings;
  /** Sessions of other trackers. */
  readonly busyElsewhere: () => number;
  /** What the store holds of what issues have used up. */
  readonly stored: ReadonlyMap<string, Spent>;
}

/** The label that `tracker.approval_label` names, where it is set. */
export const APPROVED = 'approved';
export const STRANGER: Person = { id: 'eve', names: ['eve'], mayWrite: false };
const COLLEAGUE: Person = { id: 'ada', names: ['ada'], mayWrite: true };

const FIRST_ISSUES = 8;
const ACTIVE = ['todo', 'doing'];
const OTHERS = ['done', 'review', 'backlog', ''];

export function createBoard(chance: Chance, around: Surroundings): Board {
  const issues = new Map<string, Issue>();
  const transitions: string[] = [];
  /** How often each issue was given the label of approval. */
  const labellings = new Map<string, number>();
  let nextId = 1;

  for (let count = 0; count < FIRST_ISSUES; count += 1) addIssue();

  function addIssue(): void {
    const id = String(nextId);
    nextId += 1;
    const blockers: readonly Blocker[] | null = chance.happens(0.15)
      ? null
      : chance.happens(0.2)
        ? [blockerOf(chance.pick([id, '1', '2']))]
        : [];
    const author = chance.happens(0.15) ? STRANGER : COLLEAGUE;
    const labels = chance.happens(0.8) ? [APPROVED] : [];
    const priority = chance.pick([null, 1, 2, 3]);
    issues.set(id, issueWith({ id, state: chance.pick(ACTIVE), priority, blockedBy: blockers, author, labels }));
  }

  function blockerOf(id: string): Blocker {
    return { id, identifier: `T-${id}`, state: issues.get(id)?.state ?? 'done' };
  }

  /** The issue as a read returns it: blockers carry their present states; an issue does not block itself. */
  function read(issue: Issue): Issue {
    const blockedBy =
      issue.blockedBy?.filter((blocker) => blocker.id !== issue.id).map((blocker) => blockerOf(blocker.id)) ?? null;
    return { ...issue, blockedBy };
  }

  /** A whole read resolves the blockers, too, and leaves out what people say whose word does not count. */
  function readWhole(issue: Issue): Issue {
    const { title, description } = issue;
    const { authors, approvalLabel } = around.settings().tracker;
    const heard = authors === 'anyone' && approvalLabel !== null ? 'collaborators' : authors;
    const comments = (issue.comments ?? []).filter(({ writer }) => isTrusted(heard, writer));
    const whole = { ...read(issue), blockedBy: read(issue).blockedBy ?? [], comments };
    if (approvalLabel === null || !issue.labels.includes(approvalLabel)) return whole;
    const digest = JSON.stringify([title, description, comments.map(({ id }) => id)]);
    return { ...whole, approvable: { digest, labelling: String(labellings.get(issue.id) ?? 0) } };
  }

  /** People change what an issue says, comment on it, and take the label of approval off or set it. */
  function rewrite(issue: Issue): void {
    const isLabelled = issue.labels.includes(APPROVED);
    if (chance.happens(0.3)) issues.set(issue.id, { ...issue, description: `text ${chance.below(1_000)}` });
    else if (chance.happens(0.4)) issues.set(issue.id, { ...issue, comments: [...(issue.comments ?? []), comment()] });
    else if (isLabelled) issues.set(issue.id, { ...issue, labels: [] });
    else approve(issue);
  }

  function comment(): IssueComment {
    const writer = chance.pick([STRANGER, COLLEAGUE]);
    return { id: `c${chance.below(1_000_000)}`, author: writer.id, body: `by ${writer.id}`, createdAt: '', writer };
  }

  function approve(issue: Issue): void {
    labellings.set(issue.id, (labellings.get(issue.id) ?? 0) + 1);
    issues.set(issue.id, { ...issue, labels: [APPROVED] });
  }

  function candidates(): readonly Issue[] {
    return inDispatchOrder([...issues.values()].filter((issue) => stateIn(ACTIVE, issue.state) && !issue.isClosed).map(read));
  }

  function states(ids: readonly string[]): ReadonlyMap<string, string> {
    return new Map(ids.flatMap((id) => (issues.has(id) ? [[id, issues.get(id)?.state ?? ''] as const] : [])));
  }

  function closed(ids: readonly string[]): ReadonlySet<string> {
    return new Set(ids.filter((id) => issues.get(id)?.isClosed));
  }

  /** Somebody closes it, or opens it again. */
  function shut({ isClosed, ...issue }: Issue): void {
    issues.set(issue.id, isClosed ? issue : { ...issue, isClosed: true });
  }

  /** One that is done is closed by its state, too. */
  function relabel({ isClosed, ...issue }: Issue, state: string): void {
    issues.set(issue.id, { ...issue, state, ...(isClosed && state !== 'done' ? { isClosed } : {}) });
  }

  function move(id: string, state: string): void {
    const issue = issues.get(id);
    if (issue) relabel(issue, state);
    transitions.push(`${id}>${state}`);
  }

  function handOff(id: string, target: string, { tracker }: Settings): HandoffOutcome {
    const state = issues.get(id)?.state;
    if (state === undefined) return { kind: 'gone' };
    if (state === target) return { kind: 'succeeded' };
    if (stateIn(tracker.terminalStates, state)) return { kind: 'terminal', state };
    if (!stateIn(tracker.activeStates, state)) return { kind: 'moved', state };
    move(id, target);
    return { kind: 'succeeded' };
  }

  return {
    issues,
    transitions,
    candidates,
    states,
    closed,
    readWhole,
    move,
    handOff,
    approve,
    edit() {
      if (chance.happens(0.25) && issues.size < 60) {
        addIssue();
        return null;
      }
      const id = chance.pick([...issues.keys()]);
      if (chance.happens(0.08) && issues.size > 5) {
        issues.delete(id);
        return null;
      }
      const issue = issues.get(id);
      if (issue && chance.happens(0.3)) {
        rewrite(issue);
        return null;
      }
      if (issue && issue.state !== 'done' && chance.happens(issue.isClosed ? 0.5 : 0.1)) {
        shut(issue);
        return null;
      }
      if (issue) relabel(issue, chance.pick([...ACTIVE, ...ACTIVE, ...OTHERS]));
      return id;
    },
  };
}
