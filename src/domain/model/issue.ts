/** The one issue record that every tracker is normalized to. Times are ISO 8601 strings as the tracker gave them. */
export interface Issue {
  /** Stable id used for every lookup. */
  readonly id: string;
  /** What people call it; names the workspace and the API detail route. */
  readonly identifier: string;
  /** A qualified form such as `group/project#7`, where the tracker has one. */
  readonly displayIdentifier: string | null;
  readonly title: string;
  /** Empty when absent. */
  readonly description: string;
  /** Lower runs first; null runs last. */
  readonly priority: number | null;
  /** Empty when the tracker gives the issue no state. */
  readonly state: string;
  /** Opaque, never parsed. */
  readonly branchName: string | null;
  readonly url: string;
  /** Lowercased. */
  readonly labels: readonly string[];
  /** Empty when none. */
  readonly assignee: string;
  readonly issueType: string;
  readonly parent: IssueParent | null;
  /** Null when not read (every list read leaves it so). Oldest first. */
  readonly comments: readonly IssueComment[] | null;
  /** Null when not resolved: such an issue is held out of dispatch until they are read. */
  readonly blockedBy: readonly Blocker[] | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Who opened it; absent where the tracker does not tell or is not asked. */
  readonly author?: Person | null;
  /** No label says so: the kind takes an issue without a state label for this. */
  readonly stateAssumed?: boolean;
  /** Closed, while its state says that it is not finished: nobody took the label off. */
  readonly isClosed?: true;
  /** What an approval is held against. On whole reads only, where `tracker.approval_label` is set. */
  readonly approvable?: Approvable;
  /** What is kept and shown instead of the tracker's own text, where that holds a secret. */
  readonly shown?: { readonly title: string; readonly url: string };
}

/** A person as far as the tracker tells. */
export interface Person {
  /** What the tracker asks for them by. */
  readonly id: string;
  /** The user names they go by. */
  readonly names: readonly string[];
  /** Whether they may write to the project; null where that must be asked for, or nobody tells. */
  readonly mayWrite: boolean | null;
  /** Why it is null, for people. */
  readonly whyUnknown?: string;
}

/** What was approved, if the issue carries the label. */
export interface Approvable {
  /** Of title, description and trusted comments. */
  readonly digest: string;
  /** Which setting of the label this is; empty where the tracker does not tell one from the next. */
  readonly labelling: string;
}

export interface IssueParent {
  readonly id: string;
  readonly identifier: string;
}

export interface IssueComment {
  readonly id: string;
  readonly author: string;
  readonly body: string;
  readonly createdAt: string;
  /** The author as a person; absent where the tracker does not tell. */
  readonly writer?: Person | null;
}

export interface Blocker {
  readonly id: string;
  readonly identifier: string;
  /** Qualified form, where the tracker has one. */
  readonly displayId?: string;
  /** Empty when unknown: then it still blocks. */
  readonly state: string;
  /** The tracker's own word that it is finished; it counts where no terminal states are configured. */
  readonly finished?: boolean;
  /** Closed, while its state says that it is not finished: it holds nothing up. */
  readonly isClosed?: true;
}

/** What the core keeps of an issue between two reads. */
export interface IssueRef {
  readonly id: string;
  readonly identifier: string;
  readonly displayIdentifier: string | null;
  readonly title: string;
  readonly url: string;
  readonly state: string;
  /** No label says so. Known from a read only: it is not kept in the store. */
  readonly stateAssumed?: boolean;
}

/** The part of an issue that the core keeps. */
export function refOf(issue: Issue): IssueRef {
  const { id, identifier, displayIdentifier, state } = issue;
  const { title, url } = issue.shown ?? issue;
  return { id, identifier, displayIdentifier, title, url, state, ...(issue.stateAssumed ? { stateAssumed: true } : {}) };
}

/** The issue in the state that was read of it alone; itself where that is what it says. A label put on since says another one or none. */
export function refIn(issue: IssueRef, state: string): IssueRef {
  if (issue.state === state) return issue;
  const { stateAssumed: _assumed, ...rest } = issue;
  return sameState(issue.state, state) ? { ...issue, state } : { ...rest, state };
}

/** For people: a state that no label carries is marked. */
export function shownState({ state, stateAssumed }: Pick<IssueRef, 'state' | 'stateAssumed'>): string {
  return stateAssumed ? `${state} (assumed)` : state;
}

/** State names match ignoring case and surrounding blanks. */
export function sameState(a: string, b: string): boolean {
  return a === b || normalState(a) === normalState(b);
}

export function normalState(name: string): string {
  return normalName(name.trim());
}

/** In lower case, and with one spelling of a letter that Unicode writes in two ways. Most names are plain. */
export function normalName(name: string): string {
  const lower = name.toLowerCase();
  return PLAIN.test(lower) ? lower : lower.normalize('NFC');
}

const PLAIN = /^[ -~]*$/;

/** Whether a list of configured states holds this one. An empty state is in no list. */
export function stateIn(states: readonly string[], state: string): boolean {
  return normalState(state) !== '' && states.some((candidate) => sameState(candidate, state));
}

/** What an issue counts as that is closed, whatever state its labels name. */
export const CLOSED = 'closed';

/** What its state is for us: closed where it is closed, whatever its label says. */
export function presentState({ state, isClosed }: Pick<Issue, 'state' | 'isClosed'>): string {
  return isClosed ? CLOSED : state;
}

/** The states by which work goes on or stops. */
export function countClosed(states: ReadonlyMap<string, string>, closed: ReadonlySet<string>): ReadonlyMap<string, string> {
  return closed.size === 0 ? states : new Map([...states].map(([id, state]) => [id, closed.has(id) ? CLOSED : state]));
}
