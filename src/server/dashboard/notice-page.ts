import type { Daemon } from '../../ports/daemon.ts';
import { documentOf } from './document.ts';
import { html, type Html } from './html.ts';

/** In place of a page that cannot be shown: why, and the way back. */
export function noticePage(daemon: Daemon, text: string): Html {
  const body = html`<header class="masthead" data-key="masthead">
      <div class="bar">
        <p class="brand"><a href="/">foray</a></p>
        <p id="stream" class="scripted-only" data-keep></p>
      </div>
    </header>
    <main data-key="main">
      <h1 class="spoken">foray</h1>
      <p class="alert" data-tone="warn">${text} <a href="/">To the board</a></p>
    </main>`;
  return documentOf({ title: 'foray', live: { now: daemon.clock.now() }, body });
}
