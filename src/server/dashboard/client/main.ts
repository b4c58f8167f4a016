import { sendActions } from './actions.ts';
import { applyFilters } from './filters.ts';
import { followServer } from './live.ts';
import { followTranscript } from './transcript.ts';

/** Keeps the page as it is on the server, without reloading it: what did not change is not touched. */
function start(): void {
  const live = document.getElementById('live');
  if (live === null) return;
  document.documentElement.classList.add('scripted');
  const refreshNow = followServer(live, followTranscript());
  sendActions(refreshNow);
  applyFilters(refreshNow);
  document.addEventListener('animationend', ({ target }) => {
    if (target instanceof Element) target.classList.remove('arrived');
  });
}

start();
