import type { Context } from 'hono';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { Daemon, LeadershipView } from '../../ports/daemon.ts';
import { loginOf } from '../access/access.ts';
import { actionForm } from './actions.ts';
import { html, type Html, type TemplatePart } from './html.ts';
import { mark } from './parts.ts';
import { clock } from './parts.ts';
import { pollText } from './summary.ts';

const PAGES = [
  ['/', 'Board'],
  ['/history', 'Runs'],
  ['/statistics', 'Statistics'],
] as const;

/** The head of every page: which service this is, whether it serves, and the way to the other pages. */
export function masthead(c: Context, daemon: Daemon, snapshot: Snapshot, current: string): Html {
  const { host, project } = daemon.place;
  const { path } = daemon.workflow();
  return html`<header class="masthead" data-key="masthead">
    <div class="bar">
      <p class="brand"><a href="/">${mark()}foray</a></p>
      <p class="place" title="${path} on ${host}">
        <bdi class="project">${project === '' ? baseName(path) : project}</bdi>
        <bdi class="quiet">${host}:${path}</bdi>
      </p>
      <nav class="pages" aria-label="Pages">
        ${PAGES.map(([href, name]) => html`<a href="${href}" ${href === current && html` aria-current="page"`}>${name}</a>`)}
      </nav>
    </div>
    <div class="bar second">
      ${servingState(snapshot, daemon.leader?.())}
      <p class="poll quiet">${pollText(snapshot)}</p>
      <p id="stream" class="scripted-only" role="status" data-keep></p>
      <div class="actions scripted-only controls" data-key="controls">
        ${actionForm({ action: '/api/v1/refresh', label: 'Poll now', spoken: 'Poll now', id: 'poll-now' })}
        ${
          snapshot.operatorPause === null
            ? actionForm({ action: '/api/v2/pause', label: 'Pause', spoken: 'Pause dispatching', reason: true })
            : actionForm({ action: '/api/v2/resume', label: 'Resume', spoken: 'Resume dispatching' })
        }
      </div>
      ${logout(loginOf(c))}
    </div>
  </header>`;
}

/** Who is logged in, and the way out; nothing where nobody has to log in. */
function logout(name: string | null): TemplatePart {
  if (name === null) return null;
  return html`<form class="logout" method="post" action="/logout" data-key="logout">
    ${name !== '' && html`<span class="quiet" title="logged in"><bdi>${name}</bdi></span>`}
    <button>Log out</button>
  </form>`;
}

/** Amber while the database or the tracker cannot be read, polls fail or a person paused it: it lives, but nothing new starts. */
function servingState(
  { lifecycle, poll, operatorPause, preflightProblem, storeProblem, postponedPoll }: Snapshot,
  leadership: LeadershipView | undefined,
): Html {
  const [tone, text] =
    lifecycle === 'draining'
      ? ['warn', 'Draining']
      : storeProblem != null || leadership?.unreadSince !== undefined
        ? ['warn', 'Waiting for the database']
        : poll.startFault != null
          ? ['warn', 'Waiting for the tracker']
          : poll.last?.error
            ? ['warn', 'Serving, but polls fail']
            : operatorPause !== null
              ? ['warn', 'Paused']
              : preflightProblem !== null
                ? ['warn', 'Serving, but nothing starts']
                : postponedPoll !== null
                  ? ['warn', 'Serving, but polls wait']
                  : ['good', 'Serving'];
  return html`<p class="status" data-tone="${tone}">${text}</p>`;
}

export function footer({ version }: Daemon, { trackerName, agentKind, startedAt, generatedAt }: Snapshot): Html {
  return html`<footer data-key="footer">
    <dl class="facts">
      ${fact('Version', version)} ${fact('Uptime', clock('since', startedAt, generatedAt))} ${fact('Tracker', trackerName)}
      ${fact('Agent', agentKind)}
    </dl>
    <nav aria-label="Machine-readable views">
      <a href="/api/v1/state">State</a> <a href="/api/v2/runs">Runs</a> <a href="/api/v2/parked">Parked</a>
      <a href="/api/v2/holds">Holds</a> <a href="/api/v2/merge-requests">Merge requests</a>
      <a href="/api/v2/statistics">Statistics</a> <a href="/metrics">Metrics</a> <a href="/readyz">Readiness</a>
      <a href="/api/v2/openapi.json">OpenAPI</a>
    </nav>
  </footer>`;
}

export function fact(term: string, value: TemplatePart): Html {
  return html`<div data-key="${term}">
    <dt>${term}</dt>
    <dd>${value}</dd>
  </div>`;
}

function baseName(path: string): string {
  return path.split('/').at(-2) ?? path;
}
