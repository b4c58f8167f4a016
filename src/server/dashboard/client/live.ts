import { tellTime } from './clocks.ts';
import { morph } from './morph.ts';

const REFRESH_EVERY_MS = 1000;
const RECONNECT_MS = 5000;
const LOOK_AGAIN_MS = 30_000;

/** Shows what changed on the server as soon as it says so, and says whether it is there. Gives a way to look at once. */
export function followServer(live: HTMLElement, alsoRefresh: () => Promise<void>): () => void {
  const page = createPage(live, alsoRefresh);
  const refreshSoon = createRefresher(page.refresh);
  setInterval(page.tick, 1000);
  setInterval(refreshSoon, LOOK_AGAIN_MS);
  page.tick();
  connect(refreshSoon);
  return () => void page.refresh();
}

interface Page {
  tick(): void;
  refresh(): Promise<void>;
}

function createPage(live: HTMLElement, alsoRefresh: () => Promise<void>): Page {
  /** The server's clock minus ours. */
  let ahead = Number(live.dataset.now) - Date.now();
  let asked = 0;
  /** Whoever logs out is led on by the server: a page that is loaded again would come in between. */
  let isLeaving = false;
  document.addEventListener('submit', ({ target }) => {
    if (target instanceof HTMLFormElement && target.classList.contains('logout')) isLeaving = true;
  });
  const tick = () => tellTime(Date.now() + ahead);
  return {
    tick,
    async refresh() {
      const mine = ++asked;
      try {
        const response = await fetch(location.href, { headers: { Accept: 'text/html' }, cache: 'no-store' });
        const page = new DOMParser().parseFromString(await response.text(), 'text/html');
        const next = page.getElementById('live');
        if (response.status === 401 && !isLeaving) location.reload();
        // A later question was asked meanwhile: its answer counts.
        if (next === null || mine !== asked) return;
        ahead = Number(next.dataset.now) - Date.now();
        document.title = page.title;
        morph(live, next);
        await alsoRefresh();
        tick();
      } catch {
        say('lost', 'Connection lost');
      }
    },
  };
}

/** At most one refresh a second, and none while nobody looks. */
function createRefresher(refresh: () => Promise<void>): () => void {
  let due: ReturnType<typeof setTimeout> | null = null;
  let lastAt = 0;
  let missed = false;
  const refreshSoon = (): void => {
    if (document.hidden) {
      missed = true;
      return;
    }
    due ??= setTimeout(
      () => {
        due = null;
        lastAt = Date.now();
        void refresh();
      },
      Math.max(0, lastAt + REFRESH_EVERY_MS - Date.now()),
    );
  };
  document.addEventListener('visibilitychange', () => {
    if (document.hidden || !missed) return;
    missed = false;
    refreshSoon();
  });
  return refreshSoon;
}

/** Listens for hints; while there is no stream, looks by itself. */
function connect(refreshSoon: () => void, polling: ReturnType<typeof setInterval> | null = null): void {
  const source = new EventSource('/api/v2/events?names=snapshot-changed');
  source.addEventListener('snapshot-changed', refreshSoon);
  source.addEventListener('open', () => {
    say('live', 'Live');
    if (polling !== null) clearInterval(polling);
    polling = null;
  });
  source.addEventListener('error', () => {
    say('lost', 'Connection lost');
    polling ??= setInterval(refreshSoon, RECONNECT_MS);
    // The browser gives up after an answer that is no stream.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => connect(refreshSoon, polling), RECONNECT_MS);
  });
}

/** A page whose service does not answer is grey and says since when: what it shows may no longer be so. */
function say(state: 'live' | 'lost', text: string): void {
  const { dataset } = document.documentElement;
  if (state === 'live') delete dataset.lost;
  else dataset.lost ??= new Date().toLocaleTimeString();
  const stream = document.getElementById('stream');
  if (stream === null) return;
  stream.dataset.state = state;
  const full = dataset.lost === undefined ? text : `${text} at ${dataset.lost}`;
  if (stream.textContent !== full) stream.textContent = full;
}
