import type { Snapshot } from '../../domain/snapshot.ts';
import { countText, durationText, exactText, moneyText } from './format.ts';
import { html, type Html, type Value } from './html.ts';
import { clock } from './parts.ts';

/** Who this is, whether it serves, and since when. */
export function masthead(snapshot: Snapshot, version: string): Html {
  const { generatedAt: now, lifecycle, trackerKind, agentKind } = snapshot;
  return html`<header class="masthead" data-key="masthead">
    <h1>${mark()}foray</h1>
    <p class="status" data-tone="${lifecycle === 'serving' ? 'good' : 'warn'}">
      ${lifecycle === 'serving' ? 'Serving' : 'Draining'}
    </p>
    <dl class="facts">
      <div>
        <dt>Tracker</dt>
        <dd>${trackerKind}</dd>
      </div>
      <div>
        <dt>Agent</dt>
        <dd>${agentKind}</dd>
      </div>
      <div>
        <dt>Uptime</dt>
        <dd>${clock('since', snapshot.startedAt, now)}</dd>
      </div>
      <div>
        <dt>Version</dt>
        <dd>${version}</dd>
      </div>
    </dl>
    <div class="controls" data-key="controls">
      <p class="poll">${pollText(snapshot)}</p>
      <p id="stream" class="scripted-only" data-keep></p>
      <button id="poll-now" class="scripted-only" type="button" data-keep>Poll now</button>
    </div>
  </header>`;
}

/** The figures one looks at first. Only the counts are read aloud when they change. */
export function summaryCards(snapshot: Snapshot): Html {
  const { running, retrying, parked, slots, totals } = snapshot;
  const { tokens } = totals;
  const busy = slots.max - slots.available;
  return html`<section class="cards" aria-label="Summary" data-key="cards">
    ${card('Running', running.length, html`<progress max="${Math.max(1, slots.max)}" value="${busy}" aria-label="Slots taken"></progress>`)}
    ${card('Available slots', slots.available, `of ${slots.max}`)} ${card('Retrying', retrying.length, nextRetry(snapshot))}
    ${card('Parked', parked.length, PARKED_NOTES[Math.min(parked.length, 2)])}
    ${card(
      'Total tokens',
      html`<span title="${exactText(tokens.totalTokens)}">${countText(tokens.totalTokens)}</span>`,
      `${countText(tokens.inputTokens)} in · ${countText(tokens.outputTokens)} out · ${countText(tokens.cacheReadTokens)} cached`,
    )}
    ${card('Agent time', durationText(totals.secondsRunning * 1000), totals.costUsd > 0 ? `est. ${moneyText(totals.costUsd)}` : 'since start')}
    <p class="spoken" aria-live="polite">${countsText(snapshot)}</p>
  </section>`;
}

export function countsText({ running, retrying, parked }: Snapshot): string {
  return `${running.length} running, ${retrying.length} retrying, ${parked.length} parked`;
}

/** What keeps everything back, said where nobody can miss it. */
export function alerts({ poll, preflightProblem, pauses, lifecycle, generatedAt: now }: Snapshot): Html {
  const all: readonly Value[] = [
    lifecycle === 'draining' && alert('warn', 'draining', 'Stopping', 'Sessions are being ended and nothing new starts.'),
    poll.last?.error &&
      alert('bad', 'poll', 'The last poll failed', html`<bdi>${poll.last.error}</bdi> (${clock('ago', poll.last.at, now)})`),
    preflightProblem !== null && alert('bad', 'preflight', 'Nothing is dispatched', html`<bdi>${preflightProblem}</bdi>`),
    pauses.map((pause) =>
      alert(
        'warn',
        `pause-${pause.agentKind}`,
        `${pause.agentKind} is paused`,
        html`<bdi>${pause.reason}</bdi> It goes on ${clock('until', pause.until, now)}.`,
      ),
    ),
  ];
  return html`<div class="alerts" role="status" data-key="alerts">${all}</div>`;
}

/** When the tracker is looked at next; used wherever nothing is to be seen yet. */
export function pollText({ poll, lifecycle, generatedAt: now }: Snapshot): Value {
  if (lifecycle === 'draining') return 'Polling has ended.';
  if (poll.inFlight) return 'A poll is under way.';
  return html`Next poll ${clock('until', poll.nextAt, now)}.`;
}

const PARKED_NOTES = ['none needs a person', 'needs a person', 'need a person'] as const;

function card(label: string, value: Value, note: Value): Html {
  return html`<div class="card" data-key="card-${label}">
    <p class="label">${label}</p>
    <p class="value">${value}</p>
    <p class="note">${note}</p>
  </div>`;
}

function nextRetry({ retrying, generatedAt: now }: Snapshot): Value {
  const first = retrying[0];
  return first === undefined ? 'queue is empty' : html`next ${clock('until', first.dueAt, now)}`;
}

function alert(tone: 'bad' | 'warn', key: string, title: string, text: Value): Html {
  return html`<p class="alert" data-tone="${tone}" data-key="alert-${key}"><strong>${title}.</strong> ${text}</p>`;
}

function mark(): Html {
  return html`<svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">
    <path d="M5 21V3" />
    <path d="M5 4h13l-3.5 4.5L18 13H5" />
  </svg>`;
}
