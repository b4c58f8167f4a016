import { percentEncoded } from '../../lib/percent-encoded.ts';
import { shownTitle } from '../../lib/short-text.ts';
import { costText } from '../../domain/model/cost.ts';
import { shownState } from '../../domain/model/issue.ts';
import type { Context } from 'hono';
import type { IssueRequestKind } from '../../domain/model/operator.ts';
import { remedyForRun } from '../../domain/model/remedies.ts';
import type { HoldReason, HoldVerdict } from '../../domain/model/hold.ts';
import type { JournalEntry } from '../../domain/views/chronicle.ts';
import type { RunningView } from '../../domain/views/running-view.ts';
import type { RetryView, Snapshot } from '../../domain/views/snapshot.ts';
import type { Daemon } from '../../ports/daemon.ts';
import { readSnapshot } from '../snapshot.ts';
import { findIssueRecord, type IssueStatus, type IssueRecord } from '../issue-record.ts';
import { issueActions } from './actions.ts';
import { fact, footer, masthead } from './chrome.ts';
import { documentOf } from './document.ts';
import { countText, durationText, moneyText, wordsOf } from './format.ts';
import { currentRun, RUN_TONES } from './history.ts';
import { html, type Html, type TemplatePart } from './html.ts';
import { currentSums } from './issue-sums.ts';
import { noStatePage, noSuchPage } from './notice-page.ts';
import { chip, clock, foldedText, isLink, moment, shownIdentifier, panel, runHref } from './parts.ts';
import { mergeRequestCell, reactionList } from './waiting.ts';

/** One issue over all its runs: where it is now, why, what would change that, and what happened. */
export function getIssuePage(daemon: Daemon) {
  return async (c: Context): Promise<Response> => {
    const snapshot = readSnapshot(daemon);
    if (snapshot === null) return c.html(noStatePage(daemon), 503);
    const record = await findIssueRecord(daemon, snapshot, c.req.param('identifier') ?? '');
    if (record === null) return c.html(noSuchPage(c, daemon, snapshot, 'This service has never heard of this issue.'), 404);
    const name = shownIdentifier(record.issue);
    const journal = await daemon.chronicle.journalOf(record.issue.identifier, daemon.trackerOf(record.issue.identifier));
    const body = html`${masthead(c, daemon, snapshot, '')}
      <main data-key="main">
        ${heading(record)} ${placePanel(record, snapshot)} ${mergeRequestOf(record, snapshot)}
        ${timelinePanel(record, snapshot, journal)}
      </main>
      ${footer(daemon, snapshot)}`;
    return c.html(documentOf({ title: `${name} · ${wordsOf(record.place)} · foray`, live: { now: snapshot.generatedAt }, body }));
  };
}

const PLACE_TONES: Readonly<Record<IssueStatus, string>> = {
  running: 'live',
  waiting: 'warn',
  parked: 'warn',
  held: 'plain',
  watched: 'live',
  handed_off: 'good',
  not_running: 'plain',
};

/** What makes sense to ask for at each place. */
const PLACE_ACTIONS: Readonly<Record<IssueStatus, readonly IssueRequestKind[]>> = {
  running: ['stop'],
  waiting: ['retry', 'stop'],
  parked: ['unpark'],
  held: [],
  watched: [],
  handed_off: [],
  not_running: [],
};

function heading({ issue, place, state }: IssueRecord): Html {
  const name = shownIdentifier(issue);
  return html`<div class="heading" data-key="heading">
    <h1 tabindex="-1">
      <bdi>${name}</bdi> <span class="title"><bdi>${shownTitle(issue.title)}</bdi></span>
    </h1>
    <p>
      ${chip(PLACE_TONES[place], wordsOf(place))}
      ${state !== null && chip('plain', state === issue.state ? shownState(issue) : state)}
    </p>
    ${issueActions(PLACE_ACTIONS[place], issue.identifier, name)}
  </div>`;
}

function placePanel(record: IssueRecord, snapshot: Snapshot): Html {
  const { reason, change } = explain(record, snapshot);
  const { runs, tokens, cost } = currentSums(record, snapshot);
  const { issue, running } = record;
  return panel({ id: 'now', title: 'Now', wide: true }, [
    html`<div class="now">
      <p>${reason}</p>
      <p class="quiet">${change}</p>
    </div>`,
    html`<dl class="details">
      ${fact('Runs', runs)} ${fact('Tokens', countText(tokens))} ${fact('Cost', costText(cost, moneyText))}
      ${running !== null && fact('Session', html`<a href="${runHref(running.runId)}">what it does now</a>`)}
      ${isLink(issue.url) && fact('Tracker', html`<a href="${issue.url}">open issue</a>`)}
      ${fact('JSON', html`<a href="/api/v2/issues/${percentEncoded(issue.identifier)}">all of it</a>`)}
    </dl>`,
  ]);
}

interface Explanation {
  readonly reason: TemplatePart;
  readonly change: TemplatePart;
}

/** What a person can do about what went wrong; nothing where only time helps. */
function mendText(error: string): TemplatePart {
  const remedy = remedyForRun(error);
  return remedy !== null && html`${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}. `;
}

/** Why it is where it is, and what would change that. */
function explain({ place, running, retry, parked, hold, watch }: IssueRecord, snapshot: Snapshot): Explanation {
  const { generatedAt: now } = snapshot;
  if (place === 'running' && running !== null) return ofRunning(running, now);
  if (place === 'waiting' && retry !== null) return ofRetry(retry, snapshot);
  if (place === 'parked' && parked !== null) {
    return {
      reason: html`It needs a person (${wordsOf(parked.reason)}), ${clock('ago', parked.parkedAt, now)}.
      ${foldedText(parked.detail, 'parked-detail')}`,
      change: 'A new state in the tracker releases it, or somebody does so here.',
    };
  }
  if (place === 'held' && hold !== null) {
    return {
      reason: html`It is not dispatched: ${wordsOf(hold.reason)}. ${hold.detail !== '' && foldedText(hold.detail, 'hold-detail')}`,
      change: HOLD_ENDS[hold.reason] ?? 'It is looked at again at every poll.',
    };
  }
  if (place === 'watched' && watch !== null) {
    return {
      reason: 'It was handed off, and its merge request is watched.',
      change: 'A reaction may start another run; the merge or the end of the window ends the watch.',
    };
  }
  if (place === 'handed_off')
    return {
      reason: 'Its last run succeeded and nothing is left to do.',
      change: 'An active state in the tracker starts it anew.',
    };
  return { reason: 'Nothing is being done for it.', change: 'An active state in the tracker starts it.' };
}

function ofRunning({ startedAt, turnCount, lastEvent, lastEventAt, stoppedBy }: RunningView, now: number): Explanation {
  if (stoppedBy !== null)
    return {
      reason: html`Its session is being stopped by <bdi>${stoppedBy}</bdi> and has not ended yet.`,
      change: 'It is parked when its session has ended; then somebody may release it.',
    };
  return {
    reason: html`A session has run for ${clock('since', startedAt, now)}, turn ${turnCount}. Last event: ${wordsOf(lastEvent)},
    ${clock('ago', lastEventAt, now)}.`,
    change: 'It ends by itself, by its budget, by a new state of the issue, or when somebody stops it.',
  };
}

function ofRetry(retry: RetryView, { retryHolds, generatedAt: now }: Snapshot): Explanation {
  const held = retryHolds.get(retry.issueId);
  if (held !== undefined) return heldRetry(retry, held);
  return {
    reason: html`It waits for another try, ${clock('until', retry.dueAt, now)} (attempt ${retry.attempt}).
    ${foldedText(retry.error, 'retry-error')}`,
    change: html`${mendText(retry.error)}It is tried again by itself when it is due, or now when somebody asks for it.`,
  };
}

/** Its time alone does not start it. */
function heldRetry({ attempt, error }: RetryView, { reason, detail }: HoldVerdict): Explanation {
  return {
    reason: html`It waits for another try (attempt ${attempt}) and is held: ${wordsOf(reason)}.
    ${foldedText(detail, 'hold-detail')} ${!error.includes(detail) && foldedText(error, 'retry-error')}`,
    change: HOLD_ENDS[reason] ?? 'It is tried again by itself when that is over.',
  };
}

const HOLD_ENDS: Readonly<Partial<Record<HoldReason, string>>> = {
  tracker_quota: "It is looked at again when the tracker's quota is renewed.",
  blocked_by: 'It starts when the issues it is blocked by are done.',
  blockers_unresolved: 'It starts when its blockers can be read.',
  blockers_not_read: 'Its blockers are read at one of the next polls.',
  no_global_slot: 'It starts when a session ends, or with a larger agent.max_concurrent_agents.',
  no_state_slot: 'It starts when a session of the same state ends, or with a larger agent.max_concurrent_agents_by_state.',
  paused: 'It starts when somebody resumes dispatching.',
  agent_paused: "It starts when the limit of the agent's provider lifts, or when somebody retries it.",
  preflight_failed: 'It starts when what stands in the way of every session is mended.',
  not_active: 'It starts when the tracker gives it an active state.',
  session_budget: 'It starts when somebody releases it, or with a larger budget.',
  token_budget: 'It starts when somebody releases it, or with a larger budget.',
  cost_budget: 'It starts when somebody releases it, or with a larger budget.',
};

function mergeRequestOf({ watch }: IssueRecord, { generatedAt: now }: Snapshot): TemplatePart {
  if (watch === null) return null;
  return panel(
    { id: 'merge-request', title: 'Merge request', wide: true },
    html`<div class="now">${mergeRequestCell(watch)} ${reactionList(watch, now)}</div>`,
  );
}

interface TimelineEntry {
  readonly at: number;
  readonly key: string;
  readonly content: Html;
}

function timelinePanel(record: IssueRecord, snapshot: Snapshot, journal: readonly JournalEntry[]): Html {
  const { runs, issue } = record;
  const entries: readonly TimelineEntry[] = [
    ...runs.map((run) => ({
      at: run.startedAt,
      key: `run-${run.id}`,
      content: runEntry(currentRun(run, snapshot), snapshot.generatedAt),
    })),
    ...journal.toReversed().map(({ at, text, tone }, index) => ({
      at,
      key: `entry-${at}-${index}`,
      content: html`<span class="dot" data-tone="${tone}"></span>${foldedText(text, `entry-text-${at}-${index}`)}`,
    })),
  ].toSorted((a, b) => b.at - a.at);
  return panel({ id: 'timeline', title: 'Timeline', wide: true, aside: 'newest first' }, [
    entries.length === 0
      ? html`<p class="empty">Nothing has happened to it yet.</p>`
      : html`<ol class="timeline">
          ${entries.map(
            ({ at, key, content }) =>
              html`<li data-key="${key}">
                <span class="when">${moment(at)}</span>
                <div>${content}</div>
              </li>`,
          )}
        </ol>`,
    // There are more runs than the page shows.
    record.nextCursor !== null &&
      html`<p class="more"><a href="/history?identifier=${encodeURIComponent(issue.identifier)}">All its runs</a></p>`,
  ]);
}

function runEntry(run: IssueRecord['runs'][number], now: number): Html {
  const took = run.endedAt === null ? clock('since', run.startedAt, now) : durationText(run.endedAt - run.startedAt);
  return html`<a class="plain" href="${runHref(run.id)}"
      >${chip(RUN_TONES[run.status], wordsOf(run.status))} run, ${wordsOf(run.trigger)}</a
    >
    <span class="quiet"
      >${run.turns} ${run.turns === 1 ? 'turn' : 'turns'} ·
      ${took}${run.tokensMeasured && ` · ${countText(run.tokens.totalTokens)} tokens`}${
        run.costUsd !== null && ` · ${moneyText(run.costUsd)}`
      }</span
    >
    ${run.error !== null && foldedText(run.error, `run-error-${run.id}`)}`;
}
