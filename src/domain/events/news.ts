import { announce, putOutbox, change, dropTold, putTold, type Draft } from '../draft.ts';
import type { ParkReason } from '../model/claim.ts';
import type { IssueRef } from '../model/issue.ts';
import { issueArgument } from '../model/issue-name.ts';
import { isNotification, NO_ISSUE, type NotificationEvent, type NotificationWrite, type Told } from '../model/notification.ts';
import type { Notice, NoticeName, Notices } from '../model/notice.ts';
import type { State } from '../model/state.ts';

/** Something that people want to hear of, in one line that says what to do. */
interface News {
  readonly event: NotificationEvent;
  readonly issue: IssueRef;
  readonly text: string;
  readonly over?: boolean;
  /** What begins with it, or is over; absent where nothing lasts. */
  readonly lasting?: Told;
}

/** So many messages wait for one target; what comes on top of them is counted and left out. */
const MOST_WAITING = 200;

/**
 * Queues a message for every target that wants what this decision announces. It is stored with the decision itself, so
 * that a crash neither loses nor doubles it. `before` is the state the decision began with; `more` is what no notice tells.
 */
export function queueNews(draft: Draft, before: State, more: readonly News[] = []): void {
  const { settings, told } = draft.state;
  if (settings.notifications.length === 0 && told.size === 0) return;
  const notices = draft.effects.flatMap((effect) => (effect.do === 'announce' ? [effect.notice] : []));
  const news = [...more, ...notices.flatMap((notice) => newsOf(notice, before, draft.state) ?? [])];
  for (const { name, on } of settings.notifications) {
    const wanted = news.filter(({ event }) => on.includes(event));
    for (const one of wanted) if (!isSaidBy(wanted, one)) queue(draft, name, one);
  }
  for (const one of news) noteLasting(draft, one);
}

/** What was asked for while no daemon ran, of which nobody was told. */
export function startNews({ operatorPause, told }: State): readonly News[] {
  if (operatorPause !== null) return pauseNews(told, operatorPause.by, operatorPause.reason);
  return endNews(told, 'pause', 'Foray dispatches again, resumed while it was stopped');
}

/** Nobody waits for the end of what nobody was told of. That it is over is noted whoever hears of it. */
function noteLasting(draft: Draft, { event, over = false, lasting }: News): void {
  if (lasting === undefined) return;
  if (over) dropTold(draft, lasting.subject);
  else if (draft.state.settings.notifications.some(({ on }) => on.includes(event))) putTold(draft, lasting);
}

/** A failure that ended in the issue being parked is told once, as that. */
function isSaidBy(wanted: readonly News[], { event, issue }: News): boolean {
  return event === 'failed' && wanted.some((other) => other.event !== 'failed' && other.issue.id === issue.id);
}

/** What the last waiting message of its sort says already is not queued again. */
function queue(draft: Draft, target: string, { event, issue, text, over = false }: News): void {
  const waiting = [...draft.state.outbox.values()].filter(isNotification).filter(({ write }) => write.target === target);
  const last = waiting.findLast((entry) => entry.issue.id === issue.id && entry.write.event === event);
  if (last?.write.text === text) return;
  if (waiting.length >= MOST_WAITING) return announce(draft, 'notification:message:dropped', { target, event });
  const count = draft.state.newsTold + 1;
  change(draft, { newsTold: count });
  const page = issue.id === '' ? '/' : `/issues/${encodeURIComponent(issue.identifier)}`;
  const write: NotificationWrite = { kind: 'notification', target, event, over, at: draft.now, text, page, error: '' };
  putOutbox(draft, { id: `${draft.state.instance}-n${count}`, issue, write, tries: 0, dueAt: draft.now });
}

type Maker<Name extends NoticeName> = (facts: Notices[Name], before: State, after: State) => News | readonly News[] | null;

function newsOf(notice: Notice, before: State, after: State): News | readonly News[] | null {
  return (NEWS[notice.name] as Maker<NoticeName> | undefined)?.(notice.facts, before, after) ?? null;
}

/** Which notices are news, and how they are told. */
const NEWS: { readonly [Name in NoticeName]?: Maker<Name> } = {
  'handoff:transition:succeeded': ({ issue, state }, _before, after) => ({
    event: 'handoff',
    issue,
    text: `${named(issue)} is finished and in "${state}"${requestOf(after, issue)}: please review it`,
  }),
  'run:worker:exited': ({ issue, status, error }, before, after) =>
    status === 'failed' && isFirstFailure(before, after, issue.id)
      ? { event: 'failed', issue, text: `${named(issue)}: a run failed, ${afterFailure(after, issue.id)}: ${brief(error ?? '')}` }
      : null,
  'issue:park:entered': ({ issue, reason, detail }) => ({
    event: BUDGETS.has(reason) ? 'budget' : 'parked',
    issue,
    text: `${named(issue)} waits for a person (${reason}): ${brief(detail)} - then run foray unpark ${issueArgument(issue.identifier)}`,
  }),
  'reaction:escalation:raised': ({ issue, kind, why }, _before, after) => ({
    event: 'escalated',
    issue,
    text: `${named(issue)}${requestOf(after, issue)} needs a person (${kind}): ${brief(why)}`,
  }),
  'reaction:merge:succeeded': ({ issue, number, byUs }) => ({
    event: 'merged',
    issue,
    text: `${named(issue)}: merge request ${number} is merged${byUs ? ' by Foray' : ''}, nothing to do`,
  }),
  'operator:request:answered': ({ request, by, answer }, _before, { told }) => {
    if (answer.outcome !== 'taken') return null;
    if (request.kind === 'pause') return pauseNews(told, by, request.reason);
    return request.kind === 'resume' ? endNews(told, 'pause', `Foray dispatches again, resumed by ${by}`) : null;
  },
  'agent:kind:paused': ({ agentKind, until, reason }, before) =>
    before.pauses.has(agentKind)
      ? null
      : ofService('paused', `the agent ${agentKind} is paused until ${new Date(until).toISOString()}: ${brief(reason)}`),
  'agent:kind:resumed': ({ agentKind }) => ofService('paused', `the agent ${agentKind} works again`, true),
  'poll:tick:failed': ({ error }, _before, after) => [...sessionsNews(after), ...outageNews(after, error)],
  'poll:tick:completed': (_facts, _before, after) => [
    ...sessionsNews(after),
    ...endNews(after.told, 'tracker', 'the tracker can be read again'),
  ],
};

/** Polls that failed in a row before it is called an outage. */
const DOWN_AFTER = 3;

const BUDGETS: ReadonlySet<ParkReason> = new Set(['session_budget', 'token_budget', 'cost_budget']);

/** Those that follow in a row count as one failure; a limit of the agent counts as none. One that was parked has no claim left. */
function isFirstFailure(before: State, after: State, issueId: string): boolean {
  if ((before.claims.get(issueId)?.failures ?? 0) > 0) return false;
  return (after.claims.get(issueId)?.failures ?? 1) === 1;
}

function afterFailure({ claims }: State, issueId: string): string {
  return claims.has(issueId) ? 'it is tried again' : 'it is not tried again';
}

function pauseNews(told: State['told'], by: string, reason: string): readonly News[] {
  const why = reason === '' ? '' : ` (${brief(reason)})`;
  const text = `Foray was paused by ${by}${why}: run foray resume to let it dispatch again`;
  return beginNews(told, { subject: 'pause', what: reason }, text);
}

function outageNews({ poll, told }: State, error: string): readonly News[] {
  if (poll.failures < DOWN_AFTER) return [];
  const text = `the tracker could not be read ${DOWN_AFTER} times in a row, nothing is dispatched: ${brief(error)}`;
  return beginNews(told, { subject: 'tracker', what: '' }, text);
}

function sessionsNews({ preflightProblem: what, told }: State): readonly News[] {
  if (what === null) return endNews(told, 'sessions', 'sessions can start again');
  return beginNews(told, { subject: 'sessions', what }, `no session can start: ${brief(what)}`);
}

/** Nothing where the same was told already, be it by the process before. */
function beginNews(told: State['told'], lasting: Told, text: string): readonly News[] {
  if (told.get(lasting.subject)?.what === lasting.what) return [];
  return [{ ...ofService(LASTING_EVENTS[lasting.subject], text), lasting }];
}

function endNews(told: State['told'], subject: Told['subject'], text: string): readonly News[] {
  const lasting = told.get(subject);
  return lasting === undefined ? [] : [{ ...ofService(LASTING_EVENTS[subject], text, true), lasting }];
}

/** As what each is told. */
const LASTING_EVENTS: Readonly<Record<Told['subject'], NotificationEvent>> = {
  pause: 'paused',
  tracker: 'down',
  sessions: 'down',
};

function ofService(event: NotificationEvent, text: string, over = false): News {
  return { event, issue: NO_ISSUE, text, over };
}

function requestOf({ watches }: State, { id }: IssueRef): string {
  const request = watches.get(id)?.mergeRequest;
  return request === undefined ? '' : `, merge request ${request.owner}/${request.repo}#${request.number}`;
}

function named({ displayIdentifier, identifier, title }: IssueRef): string {
  return `${displayIdentifier ?? identifier} "${brief(title, 80)}"`;
}

/** One line of bounded length, without half a character at its end and without marks that turn the order of reading. */
function brief(text: string, longest = 240): string {
  const line = text.replaceAll(/[\s\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu, ' ').trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1).replace(/\p{Surrogate}$/u, '')}…`;
}
