import { percentEncoded } from '../../lib/percent-encoded.ts';
import { shownTitle } from '../../lib/short-text.ts';
import type { Context } from 'hono';
import type { Run, RunEvent } from '../../domain/model/run.ts';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { Daemon } from '../../ports/daemon.ts';
import { readSnapshot } from '../snapshot.ts';
import { fail } from '../http/envelope.ts';
import { issueActions } from './actions.ts';
import { fact, footer, masthead } from './chrome.ts';
import { documentOf } from './document.ts';
import { moneyText, wordsOf } from './format.ts';
import { currentRun, runDuration, RUN_TONES } from './history.ts';
import { html, type Html, type TemplatePart } from './html.ts';
import { noStatePage, noSuchPage } from './notice-page.ts';
import { chip, foldedText, isLink, issueHref, moment, shownIdentifier, panel } from './parts.ts';
import { isFailure, selectPart, transcriptOf, transcriptQuery, type TranscriptPart, type TranscriptQuery } from './transcript.ts';
import { transcriptRows } from './transcript-rows.ts';
import { tokensText } from './work.ts';

/** One run and, live, what its agent does. */
export function getRunPage(daemon: Daemon) {
  return async (c: Context): Promise<Response> => {
    const snapshot = readSnapshot(daemon);
    const found = await daemon.history.findRun(c.req.param('id') ?? '');
    if (snapshot === null) return c.html(noStatePage(daemon), 503);
    if (found === null) return c.html(noSuchPage(c, daemon, snapshot, 'There is no such run.'), 404);
    const run = currentRun(found.run, snapshot);
    const query = transcriptQuery(c.req.query());
    const name = shownIdentifier(run.issue);
    const body = html`${masthead(c, daemon, snapshot, '/history')}
      <main data-key="main">${heading(run)} ${detailsPanel(run, snapshot)} ${transcriptPanel(run, found.events, query)}</main>
      ${footer(daemon, snapshot)}`;
    return c.html(documentOf({ title: `${name} · ${wordsOf(run.status)} · foray`, live: { now: snapshot.generatedAt }, body }));
  };
}

/** More rows of a transcript, as the reader scrolls or the run goes on. */
export function getTranscriptRows(daemon: Daemon) {
  return async (c: Context): Promise<Response> => {
    const found = await daemon.history.findRun(c.req.param('id') ?? '');
    if (found === null) return fail(c, 'run_not_found', 'There is no such run.');
    const part = selectPart(transcriptOf(found.events), transcriptQuery(c.req.query()));
    return c.html(
      html`<ol data-earlier="${part.earlier}" data-later="${part.later}">
        ${transcriptRows(part.rows, found.run.startedAt)}
      </ol>`,
    );
  };
}

function heading(run: Run): Html {
  const name = shownIdentifier(run.issue);
  return html`<div class="heading" data-key="heading">
    <p class="crumbs">
      <a href="${issueHref(run.issue.identifier)}"><bdi>${name}</bdi></a> / run
    </p>
    <h1 tabindex="-1">
      <bdi>${name}</bdi> <span class="title"><bdi>${shownTitle(run.issue.title)}</bdi></span>
    </h1>
    ${run.status === 'running' && issueActions(['stop'], run.issue.identifier, name)}
  </div>`;
}

function detailsPanel(run: Run, { generatedAt: now }: Snapshot): Html {
  const rows: readonly (readonly [string, TemplatePart])[] = [
    ['Status', chip(RUN_TONES[run.status], wordsOf(run.status))],
    ['Started', moment(run.startedAt)],
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
  return panel({ id: 'run', title: 'Run', wide: true }, [
    html`<dl class="details">
      ${rows.filter(([, value]) => value !== null && value !== '').map(([term, value]) => fact(term, value))}
    </dl>`,
    run.error !== null && html`<div class="failure">${foldedText(run.error, 'run-error')}</div>`,
  ]);
}

function transcriptPanel(run: Run, events: readonly RunEvent[], query: TranscriptQuery): Html {
  const all = transcriptOf(events);
  const part = selectPart(all, query);
  const failures = all.filter(({ content }) => isFailure(content)).length;
  const json = `/api/v2/runs/${percentEncoded(run.id)}`;
  return panel({ id: 'events', title: 'Transcript', count: all.length, wide: true }, [
    html`<form class="tools" method="get" role="search" data-key="tools">
      <label class="grow"
        ><span class="spoken">Search the transcript</span
        ><input type="search" name="q" value="${query.search}" placeholder="Search the transcript" data-keep
      /></label>
      <label
        ><input type="checkbox" name="show" value="failures" ${query.failuresOnly && html` checked`} data-keep /> Failures only
        (${failures})</label
      >
      <label class="scripted-only"
        ><input type="checkbox" id="follow" ${run.status === 'running' && html` checked`} data-keep /> Follow</label
      >
      <button>Search</button>
      <button type="button" class="scripted-only" id="next-failure" ${failures === 0 && html` disabled`}>Next failure</button>
      <a href="${json}">JSON</a> <a href="${json}" download="run-${run.id}.json">Download</a>
    </form>`,
    rowsOf(run, part, query),
  ]);
}

function rowsOf(run: Run, part: TranscriptPart, query: TranscriptQuery): Html {
  const [first] = part.rows;
  if (first === undefined) {
    return html`<p class="empty">
      ${query.search !== '' || query.failuresOnly ? 'Nothing in it matches.' : 'Nothing was recorded yet. A run under way saves what it does every few seconds.'}
    </p>`;
  }
  const link = (name: string, number: number) =>
    `?${new URLSearchParams({ ...(query.search && { q: query.search }), ...(query.failuresOnly && { show: 'failures' }), [name]: String(number) }).toString()}`;
  return html`<div id="transcript" data-keep data-run="${run.id}" data-running="${run.status === 'running' ? 'yes' : 'no'}">
    ${part.earlier > 0 && html`<p class="more"><a id="earlier" href="${link('before', first.number)}">${part.earlier} earlier rows</a></p>`}
    <ol class="transcript">
      ${transcriptRows(part.rows, run.startedAt)}
    </ol>
    ${part.later > 0 && html`<p class="more"><a id="later" href="${link('after', part.rows.at(-1)?.number ?? 0)}">${part.later} later rows</a></p>`}
  </div>`;
}
