import { followServer } from './live.ts';
import { pollNow } from './actions.ts';

/** Keeps the page as it is on the server, without reloading it: what did not change is not touched. */
function start(): void {
  const live = document.getElementById('live');
  if (live === null) return;
  document.documentElement.classList.add('scripted');
  followServer(live);
  document.addEventListener('animationend', ({ target }) => {
    if (target instanceof Element) target.classList.remove('arrived');
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLButtonElement && target.id === 'poll-now') void pollNow(target);
  });
}

start();
