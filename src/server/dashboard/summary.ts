import { addCosts, costParts, costText, NO_COST, type CostSum } from '../../domain/model/cost.ts';
import { IF_SILENT } from '../../domain/model/remedies.ts';
import type { Quota } from '../../domain/model/quota.ts';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { StartFault } from '../../domain/views/start-fault.ts';
import type { EditNotTaken, LeadershipView, LeaderView, WorkflowStatus } from '../../ports/daemon.ts';
import type { StatisticsRow } from '../../ports/store.ts';
import { countText, durationText, exactText, moneyText, quotaText } from './format.ts';
import { html, type Html, type TemplatePart } from './html.ts';
import { clock, foldedText, moment } from './parts.ts';
import { dayOf } from './past.ts';

/** The figures one looks at first. Only the counts are read aloud when they change. */
export function summaryCards(snapshot: Snapshot, days: readonly StatisticsRow[] | null): Html {
  const { running, retrying, parked, slots, totals } = snapshot;
  const { tokens } = totals;
  const busy = slots.max - slots.available;
  return html`<section class="cards" aria-label="Summary" data-key="cards">
    ${card('Needs a person', parked.length, PARKED_NOTES[Math.min(parked.length, 2)], parked.length > 0 ? 'warn' : undefined)}
    ${card('Running', running.length, html`<progress max="${Math.max(1, slots.max)}" value="${busy}" aria-label="Slots taken"></progress>`)}
    ${card('Available slots', slots.available, `of ${slots.max}`)} ${card('Retrying', retrying.length, nextRetry(snapshot))}
    ${moneyCard(snapshot, days)}
    ${card(
      'Total tokens',
      html`<span title="${exactText(tokens.totalTokens)}">${countText(tokens.totalTokens)}</span>`,
      `${countText(tokens.inputTokens)} in · ${countText(tokens.outputTokens)} out · ${countText(tokens.cacheReadTokens)} cached`,
    )}
    ${quotaCard(snapshot)} ${card('Agent time', durationText(totals.secondsRunning * 1000), 'since start')}
    <p class="spoken" aria-live="polite">${countsText(snapshot)}</p>
  </section>`;
}

export function countsText({ running, retrying, parked }: Snapshot): string {
  return `${running.length} running, ${retrying.length} retrying, ${parked.length} parked`;
}

/** What was spent today and in seven days, and how much one issue may. */
function moneyCard({ generatedAt, costLimitUsd }: Snapshot, days: readonly StatisticsRow[] | null): Html {
  const today = dayOf(generatedAt);
  const limit = costLimitUsd > 0 ? `limit ${moneyText(costLimitUsd)} an issue` : 'no limit set';
  if (days === null) return card('Cost today', '–', limit);
  const cost: CostSum = days.find(({ key }) => key === today) ?? NO_COST;
  const week = days.reduce<CostSum>(addCosts, NO_COST);
  const [amount, rest] = costParts(cost, moneyText);
  const more = rest === undefined ? '' : `+ ${rest} · `;
  return card('Cost today', amount, `${more}${costText(week, moneyText)} in 7 days · ${limit}`);
}

/** What is left of the tracker's quota, the scarcest first; nothing where it does not say. */
function quotaCard({ quotas, postponedPoll, generatedAt: now }: Snapshot): TemplatePart {
  const [first, ...others] = quotas.toSorted((a, b) => shareLeft(a) - shareLeft(b));
  if (first === undefined) return null;
  const { resource, remaining, limit, resetAt } = first;
  const reset = resetAt !== null && resetAt > now && html` · full ${clock('until', resetAt, now)}`;
  return card(
    'Requests left',
    html`<span title="${quotaText(first)}">${countText(remaining)}</span>`,
    html`${limit !== null && `of ${countText(limit)} `}${resource}${others.map((one) => ` · ${countText(one.remaining)} ${one.resource}`)}${reset}`,
    postponedPoll !== null ? 'warn' : undefined,
  );
}

function shareLeft({ remaining, limit }: Quota): number {
  return limit === null ? 1 : remaining / limit;
}

/** What keeps everything back, said where nobody can miss it. */
export function alerts(snapshot: Snapshot, { rejected, warnings }: WorkflowStatus, leadership?: LeadershipView): Html {
  const { preflightProblem, storeProblem = null, lifecycle, generatedAt: now } = snapshot;
  const all: readonly TemplatePart[] = [
    leadership?.role === 'standby' && standbyAlert(leadership, now),
    lifecycle === 'draining' && alert('warn', 'draining', 'Stopping', 'Sessions are being ended and nothing new starts.'),
    operatorPauseAlert(snapshot),
    rejected !== null && editAlert(rejected, now),
    warnings.length > 0 &&
      alert(
        'warn',
        'warnings',
        warnings.length === 1 ? 'The workflow file has a warning' : `The workflow file has ${warnings.length} warnings`,
        foldedText(warnings.join('\n'), 'workflow-warnings'),
      ),
    storeProblem !== null &&
      alert('bad', 'store', 'The database takes no write, so nothing goes on', html`<bdi>${storeProblem}</bdi>`),
    pollAlerts(snapshot),
    preflightProblem !== null && alert('bad', 'preflight', 'Nothing is dispatched', html`<bdi>${preflightProblem}</bdi>`),
    agentPauseAlerts(snapshot),
    notificationAlerts(snapshot),
  ];
  return html`<div class="alerts" role="status" data-key="alerts">${all}</div>`;
}

/** Why what stands in the workflow file is not in force. */
function editAlert({ at, reason, isAwaited }: EditNotTaken, now: number): Html {
  return alert(
    isAwaited ? 'warn' : 'bad',
    'workflow',
    `The last edit of the workflow file ${isAwaited ? 'is not taken yet' : 'was not taken'}`,
    html`${isAwaited ? 'Its tracker was asked' : 'It was rejected'} ${clock('ago', at, now)}; the one before it is in force.
    ${foldedText(reason, 'workflow-reason')}`,
  );
}

/** Who let it rest, and why. */
function operatorPauseAlert({ operatorPause, generatedAt: now }: Snapshot): TemplatePart {
  if (operatorPause === null) return null;
  const { reason, by, since } = operatorPause;
  return alert(
    'warn',
    'paused',
    'Paused',
    html`${reason !== '' && html`<bdi>${reason}</bdi>. `}By <bdi>${by}</bdi>, ${clock('ago', since, now)}. Sessions that run go
      on; nothing new starts.`,
  );
}

/** A tracker that takes longer is told of. */
const PATIENCE_MS = 2000;

/** A tracker that does not answer, a poll that failed, and one that waits for quota. */
function pollAlerts({ poll, postponedPoll, lifecycle, generatedAt: now }: Snapshot): readonly TemplatePart[] {
  const since = poll.waitsSince ?? now;
  const { startFault = null } = poll;
  return [
    startFault !== null && startAlert(startFault, now),
    startFault === null &&
      lifecycle === 'serving' &&
      now - since > PATIENCE_MS &&
      alert(
        'warn',
        'waiting',
        'The tracker has not answered yet',
        html`It was asked ${clock('ago', since, now)} and is still waited for; ${IF_SILENT}. Sessions that run go on.`,
      ),
    poll.last?.error &&
      alert(
        'bad',
        'poll',
        'The last poll failed',
        html`<bdi>${poll.last.error}</bdi>
          (${clock('ago', poll.last.at, now)})${poll.last.remedy && html` ${poll.last.remedy}.`}`,
      ),
    postponedPoll !== null &&
      alert(
        'warn',
        'quota',
        'The next poll waits',
        html`<bdi>${postponedPoll.reason}</bdi>. It begins ${clock('until', postponedPoll.until, now)}. Sessions that run go on.`,
      ),
  ];
}

/** What the tracker said to a start that is not over. */
function startAlert({ at, error, remedy, nextTryAt }: StartFault, now: number): Html {
  const next = nextTryAt > now ? html`It is tried again ${clock('until', nextTryAt, now)}.` : 'It is being tried again.';
  return alert(
    'bad',
    'start',
    'The tracker cannot be read yet',
    html`<bdi>${error}</bdi> (${clock('ago', at, now)}) ${next}${remedy && html` ${remedy}.`}`,
  );
}

/** Agent kinds that have come to a usage limit. */
function agentPauseAlerts({ pauses, generatedAt: now }: Snapshot): readonly TemplatePart[] {
  return pauses.map(({ agentKind, reason, until }) =>
    alert(
      'warn',
      `pause-${agentKind}`,
      `${agentKind} is paused`,
      html`<bdi>${reason}</bdi> It goes on ${clock('until', until, now)}.`,
    ),
  );
}

/** Targets that have not taken a message for a while. */
function notificationAlerts({ notifications, generatedAt: now }: Snapshot): readonly TemplatePart[] {
  return notifications.map(
    ({ target, waiting, failing }) =>
      failing !== null &&
      alert(
        'warn',
        `notifications-${target}`,
        `${target} does not hear from us`,
        html`<bdi>${failing.error}</bdi> ${waiting === 1 ? '1 message waits' : `${waiting} messages wait`}, the first
          ${clock('ago', failing.since, now)}; the next try is ${clock('until', failing.nextTryAt, now)}.`,
      ),
  );
}

/** Who leads, or that nobody can tell. */
function standbyAlert({ leader, unreadSince }: LeadershipView, now: number): Html {
  if (unreadSince === undefined) return alert('warn', 'standby', 'Standing by', leaderText(leader));
  return alert(
    'bad',
    'unread',
    'The database cannot be reached',
    html`It was last read ${clock('ago', unreadSince, now)}, and this is what was read then: what runs and who leads may be over.
    The log of this service says why.`,
  );
}

function leaderText(leader: LeaderView | null): Html {
  if (leader === null) return html`Nobody leads at the moment. This is what the database holds.`;
  const place =
    leader.url === null ? html`<bdi>${leader.host}</bdi>` : html`<a href="${leader.url}"><bdi>${leader.host}</bdi></a>`;
  return html`${place} (process ${leader.pid}) leads since ${moment(leader.since)}. This is what it has stored.`;
}

/** When the tracker is looked at next; used wherever nothing is to be seen yet. */
export function pollText({ poll, lifecycle, generatedAt: now }: Snapshot): TemplatePart {
  if (lifecycle === 'draining') return 'Polling has ended.';
  if (poll.inFlight) return 'A poll is under way.';
  if (poll.nextAt === null) return 'The tracker is polled by the leader.';
  return html`Next poll ${clock('until', poll.nextAt, now)}.`;
}

const PARKED_NOTES = ['nobody has to act', 'waits for somebody', 'wait for somebody'] as const;

function card(label: string, value: TemplatePart, note: TemplatePart, tone?: string): Html {
  return html`<div class="card" data-key="card-${label}" ${tone !== undefined && html` data-tone="${tone}"`}>
    <p class="label">${label}</p>
    <p class="value">${value}</p>
    <p class="note">${note}</p>
  </div>`;
}

function nextRetry({ retrying, generatedAt: now }: Snapshot): TemplatePart {
  const first = retrying[0];
  return first === undefined ? 'queue is empty' : html`next ${clock('until', first.dueAt, now)}`;
}

function alert(tone: 'bad' | 'warn', key: string, title: string, text: TemplatePart): Html {
  return html`<div class="alert" data-tone="${tone}" data-key="alert-${key}"><strong>${title}.</strong> ${text}</div>`;
}
