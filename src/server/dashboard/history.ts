import type { Run, RunEvent, RunStatus } from '../../domain/model/run.ts';
import type { LifetimeTotals } from '../../ports/store.ts';
import { countText, durationText, moneyText, utcText, wordsOf } from './format.ts';
import { html, type Html, type Value } from './html.ts';
import { chip, clock, foldedText, isLink, issueCell, panel, table, type Column } from './parts.ts';
import { tokensText } from './work.ts';

/** How many runs the dashboard lists. */
export const HISTORY_LENGTH = 25;
/** The end of a long story matters most. */
const EVENTS_SHOWN = 500;

const TONES: Readonly<Record<RunStatus, string>> = {
  running: 'live',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'plain',
  interrupted: 'warn',
  budget_stopped: 'warn',
  blocked: 'warn',
};

/** What is known of the past; null when the database did not answer. */
export interface History {
  readonly runs: readonly Run[];
  readonly totals: LifetimeTotals;
}

export function historyPanel(history: History | null, now: number): Html {
  if (history === null) {
    return panel(
      { id: 'history', title: 'Recent runs', wide: true },
      html`<p class="empty">History could not be read. The log says why.</p>`,
    );
  }
  const columns: readonly Column<Run>[] = [
    { label: 'Issue', cell: (run) => issueCell(run.issue, `/runs/${encodeURIComponent(run.id)}`) },
    { label: 'Status', fit: 'short', cell: (run) => chip(TONES[run.status], wordsOf(run.status)) },
    {
      label: 'Trigger',
      fit: 'short',
      cell: (run) => [wordsOf(run.trigger), run.attempt > 0 && html`<span class="sub">attempt ${run.attempt}</span>`],
    },
    { label: 'Started', fit: 'figure', cell: (run) => clock('ago', run.startedAt, now) },
    { label: 'Duration', fit: 'figure', cell: (run) => runDuration(run, now) },
    { label: 'Turns', fit: 'figure', cell: (run) => run.turns },
    {
      label: 'Tokens',
      fit: 'figure',
      cell: (run) => [tokensText(run), run.costUsd !== null && html`<span class="sub">${moneyText(run.costUsd)}</span>`],
    },
  ];
  return panel(
    { id: 'history', title: 'Recent runs', wide: true, aside: lifetimeText(history.totals) },
    table({
      columns,
      rows: history.runs,
      key: (run) => `run-${run.id}`,
      limit: HISTORY_LENGTH,
      json: '/api/v2/runs',
      empty: 'No run yet. The first one shows here as soon as it starts.',
    }),
  );
}

/** One run with its story, newest event last. */
export function runDetails(run: Run, events: readonly RunEvent[], now: number): Html {
  const shown = events.slice(-EVENTS_SHOWN);
  const hidden = events.length - shown.length;
  const json = `/api/v2/runs/${encodeURIComponent(run.id)}`;
  return html`${panel({ id: 'run', title: 'Run', wide: true, aside: html`<a href="${json}">JSON</a>` }, [
    html`<dl class="details">
      ${details(run, now).map(
        ([term, value]) =>
          html`<div data-key="${term}">
            <dt>${term}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>`,
    run.error !== null && html`<div class="failure">${foldedText(run.error, 'run-error')}</div>`,
  ])}
  ${panel({ id: 'events', title: 'Events', count: events.length, wide: true }, [
    hidden > 0 && html`<p class="more">${hidden} earlier ones, <a href="${json}">all as JSON</a></p>`,
    shown.length === 0
      ? html`<p class="empty">Nothing was recorded yet. A run under way saves its story every few seconds.</p>`
      : html`<ol class="timeline">
          ${shown.map((event, index) => eventItem(event, run.startedAt, `event-${hidden + index}`))}
        </ol>`,
  ])}`;
}

function runDuration(run: Run, now: number): Html {
  if (run.endedAt === null) return clock('since', run.startedAt, now);
  return html`<span>${durationText(run.endedAt - run.startedAt)}</span>`;
}

function lifetimeText({ runs, totalTokens, seconds, costUsd }: LifetimeTotals): Value {
  if (runs === 0) return null;
  const cost = costUsd > 0 ? `, est. ${moneyText(costUsd)}` : '';
  return `All time: ${runs} ${runs === 1 ? 'run' : 'runs'}, ${countText(totalTokens)} tokens, ${durationText(seconds * 1000)}${cost}`;
}

function details(run: Run, now: number): readonly (readonly [term: string, value: Value])[] {
  const rows: readonly (readonly [string, Value])[] = [
    ['Status', chip(TONES[run.status], wordsOf(run.status))],
    ['Started', html`<span title="${utcText(run.startedAt)}">${utcText(run.startedAt)}</span>`],
    ['Duration', runDuration(run, now)],
    ['Trigger', wordsOf(run.trigger)],
    ['Attempt', run.attempt],
    ['Turns', run.turns],
    ['Tokens', tokensText(run)],
    ['Est. cost', run.costUsd === null ? null : moneyText(run.costUsd)],
    ['Agent', run.agentKind],
    ['Model', run.model],
    ['Session', run.sessionId],
    ['Workspace', run.workspacePath],
    ['Run', run.id],
    ['Tracker', isLink(run.issue.url) ? html`<a href="${run.issue.url}">open issue</a>` : null],
  ];
  return rows.filter(([, value]) => value !== null && value !== '');
}

function eventItem(event: RunEvent, startedAt: number, key: string): Html {
  return html`<li data-key="${key}">
    <time datetime="${new Date(event.at).toISOString()}" title="${utcText(event.at)}"
      >+${durationText(event.at - startedAt)}</time
    >
    <span class="event">${wordsOf(event.type)}</span>
    <div>${event.text !== '' && foldedText(event.text, `${key}-text`)}</div>
  </li>`;
}
