import type { Context } from 'hono';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { Daemon } from '../../ports/daemon.ts';
import { footer, masthead } from './chrome.ts';
import { documentOf } from './document.ts';
import { html, type Html } from './html.ts';
import { mark } from './parts.ts';

/** In place of a page that is not there: why, and the way back. */
export function noSuchPage(c: Context, daemon: Daemon, snapshot: Snapshot, text: string): Html {
  const body = html`${masthead(c, daemon, snapshot, '')} ${notice(text)} ${footer(daemon, snapshot)}`;
  return documentOf({ title: 'Not found · foray', live: { now: snapshot.generatedAt }, body });
}

/** In place of every page while the state of the service cannot be read. */
export function noStatePage(daemon: Daemon): Html {
  return failedPage(daemon, 'The state of the service could not be read.');
}

/** In place of a page that could not be made. It looks again by itself. */
export function failedPage(daemon: Daemon, text: string): Html {
  const body = html`<header class="masthead" data-key="masthead">
      <div class="bar">
        <p class="brand"><a href="/">${mark()}foray</a></p>
        <p id="stream" class="scripted-only" role="status" data-keep></p>
      </div>
    </header>
    ${notice(text)}`;
  return documentOf({ title: 'foray', live: { now: daemon.clock.now() }, body });
}

function notice(text: string): Html {
  return html`<main data-key="main">
    <section class="panel wide notice">
      <h1>${text}</h1>
      <p><a href="/">To the board</a></p>
    </section>
  </main>`;
}
