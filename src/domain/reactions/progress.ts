import { announce, change, dropWatch, putWatch, type Draft } from '../draft.ts';
import { askedWaitMs } from '../rules/quota.ts';
import { isNeverTold, type Fault } from '../model/fault.ts';
import { sameState, stateIn } from '../model/issue.ts';
import type { ReactionSettings } from '../model/settings.ts';
import { NO_MARK, type ReactionBase, type ReactionKind } from '../model/reaction.ts';
import type { Findings } from '../model/findings.ts';
import { withEntry, withoutEntry } from '../model/versioned-map.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';

const MAX_READ_BACKOFF_MS = 5 * 60_000;

export function settingsOf(settings: ReactionSettings, kind: ReactionKind): ReactionBase | undefined {
  return settings.on[kind];
}

export function freshProgress(nextAt: number): ReactionProgress & { readonly mark: typeof NO_MARK } {
  return { used: 0, mark: NO_MARK, escalated: false, failures: 0, nextAt, waitingFor: 'the first look' };
}

export function progressOf<Kind extends ReactionKind>(watch: Watch, kind: Kind): ReactionProgress<Kind> {
  const known: ReactionProgress<Kind> | undefined = watch.reactions[kind];
  return known ?? freshProgress(watch.armedAt);
}

/** Stores how far a reaction has come. */
export function putProgress<Kind extends ReactionKind>(
  draft: Draft,
  issueId: string,
  kind: Kind,
  progress: ReactionProgress<Kind>,
): void {
  const watch = draft.state.watches.get(issueId);
  if (watch) putWatch(draft, { ...watch, reactions: { ...watch.reactions, [kind]: progress } });
}

/** Nothing to do now: look again after the kind's interval, and say what is being waited for. */
export function waitFor<Kind extends ReactionKind>(
  draft: Draft,
  watch: Watch,
  kind: Kind,
  waitingFor: string,
  changes: Partial<ReactionProgress<Kind>> = {},
): void {
  const interval = settingsOf(draft.state.settings.reactions, kind)?.pollIntervalMs ?? MAX_READ_BACKOFF_MS;
  const progress = progressOf(watch, kind);
  putProgress(draft, watch.issue.id, kind, { ...progress, failures: 0, nextAt: draft.now + interval, waitingFor, ...changes });
}

/** A read failed: look again later and later. Never counts against a budget. */
export function couldNotRead(draft: Draft, watch: Watch, kind: ReactionKind, fault: Failure): void {
  const { message: why } = fault;
  waitLonger(draft, watch, kind, `a readable answer: ${why}`, { fault });
  announce(draft, 'reaction:check:completed', { issue: watch.issue, kind, result: 'error', detail: why });
  tellUnreadable(draft, watch, kind, why);
}

/** What is told of a failure here, and how long the remote is to be left alone. */
type Failure = Pick<Fault, 'message' | 'retryAfterMs' | 'isLimit'>;

/** A look or a try brought nothing: the next one comes later and later, and not before the remote wants to be asked again. */
export function waitLonger<Kind extends ReactionKind>(
  draft: Draft,
  watch: Watch,
  kind: Kind,
  waitingFor: string,
  { fault, changes = {} }: { readonly fault?: Failure; readonly changes?: Partial<ReactionProgress<Kind>> } = {},
): void {
  const progress = progressOf(watch, kind);
  const failures = progress.failures + 1;
  const interval = intervalOf(draft, kind);
  const backoff = Math.max(interval, Math.min(interval * 2 ** Math.min(failures, 10), MAX_READ_BACKOFF_MS));
  const nextAt = draft.now + Math.max(backoff, fault ? askedWaitMs(fault) : 0);
  putProgress(draft, watch.issue.id, kind, { ...progress, failures, nextAt, waitingFor, ...changes });
}

/** What failed is not tried again yet, whatever else is looked at meanwhile. */
export function isPutOff({ failures, nextAt }: ReactionProgress, now: number): boolean {
  return failures > 0 && nextAt > now;
}

/** Once per cause and request, until every reaction that met it finds all readable again. */
function tellUnreadable(draft: Draft, { issue, mergeRequest }: Watch, kind: ReactionKind, why: string): void {
  const told = draft.state.unreadable.get(issue.id) ?? new Map<string, ReadonlySet<ReactionKind>>();
  const kinds = told.get(why);
  const causes = new Map(told).set(why, new Set(kinds).add(kind));
  change(draft, { unreadable: withEntry(draft.state.unreadable, issue.id, causes) });
  if (kinds === undefined) announce(draft, 'reaction:read:failed', { issue, number: mergeRequest.number, error: why });
}

/** A look found readable all that these reactions need. What others met says nothing of them. */
export function forgetUnreadable(draft: Draft, { issue }: Watch, readable: readonly ReactionKind[]): void {
  const told = draft.state.unreadable.get(issue.id);
  if (told === undefined) return;
  const causes = [...told].map(([why, kinds]) => [why, new Set([...kinds].filter((kind) => !readable.includes(kind)))] as const);
  const rest = new Map(causes.filter(([, kinds]) => kinds.size > 0));
  const { unreadable } = draft.state;
  change(draft, { unreadable: rest.size > 0 ? withEntry(unreadable, issue.id, rest) : withoutEntry(unreadable, issue.id) });
}

/**
 * Why it is not known who we are, and will be: until then nobody is heard, who might be ourselves. Null where it is known, or
 * the forge will never say.
 */
export function whySelfUnknown(self: Findings['self']): string | null {
  return self?.ok === false && !isNeverTold(self.fault) ? self.fault.message : null;
}

/** Some credentials may not ask for their own account. Then our own word counts as that of others, which is told once. */
export function noteSelf(draft: Draft, self: Findings['self']): void {
  if (self === undefined || whySelfUnknown(self) !== null) return;
  const error = self.ok ? null : self.fault.message;
  if (error === draft.state.accountUnknown) return;
  change(draft, { accountUnknown: error });
  if (error !== null) announce(draft, 'reaction:account:unknown', { error });
}

/** Whether an account is that of our own credential. Where the forge will not say who we are, nobody is. */
export function isOwnAccount(self: Findings['self'], account: string): boolean {
  return self?.ok === true && self.value !== '' && self.value.toLowerCase() === account.toLowerCase();
}

/** A run is queued or goes on: what it pushes changes what is judged. A handoff pushes nothing. */
export function isWorkedOn(draft: Draft, watch: Watch): boolean {
  const claim = draft.state.claims.get(watch.issue.id);
  return claim?.phase === 'running' || (claim?.phase === 'waiting' && claim.then.kind === 'run');
}

export const PARKED = 'the parked issue to be released';

/** What keeps a reaction from queueing a run now, for people; null when nothing does. */
export function reasonToWait(draft: Draft, watch: Watch): string | null {
  const { activeStates, handoffState } = draft.state.settings.tracker;
  const { id, state } = watch.issue;
  if (isWorkedOn(draft, watch)) return 'the run under way to end';
  if (draft.state.claims.has(id)) return 'the handoff to finish';
  if (draft.state.parked.has(id)) return PARKED;
  if (state === '') return 'the tracker to tell the state of the issue';
  const mayStart = stateIn(activeStates, state) || (handoffState !== null && sameState(state, handoffState));
  return mayStart ? null : `the issue to come back from "${state}"`;
}

/** The watch is over: nothing is left to do for this merge request. */
export function endWatch(draft: Draft, watch: Watch, why: string): void {
  dropWatch(draft, watch.issue.id);
  announce(draft, 'reaction:watch:ended', { issue: watch.issue, why });
}

export function intervalOf(draft: Draft, kind: ReactionKind): number {
  return settingsOf(draft.state.settings.reactions, kind)?.pollIntervalMs ?? 0;
}
