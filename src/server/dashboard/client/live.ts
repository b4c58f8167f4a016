import { tellTime } from './clocks.ts';
import { morph } from './morph.ts';
import { patience } from './patience.ts';
import { keepPlace } from './place.ts';

const REFRESH_EVERY_MS = 1000;
const RECONNECT_MS = 5000;
const LOOK_AGAIN_MS = 30_000;

/** Shows what changed on the server as soon as it says so, and says whether it is there. Gives a way to look at once. */
export function followServer(live: HTMLElement, alsoRefresh: () => Promise<void>): () => void {
  const page = createPage(live, async () => {
    await alsoRefresh();
    if (stream.isOpen()) say('live', 'Live');
  });
  const refreshSoon = createRefresher(page.refresh);
  const stream = followStream(refreshSoon);
  setInterval(page.tick, 1000);
  setInterval(refreshSoon, LOOK_AGAIN_MS);
  page.tick();
  return () => void page.refresh();
}

interface Page {
  tick(): void;
  refresh(): Promise<void>;
}

function createPage(live: HTMLElement, onRefreshed: () => Promise<void>): Page {
  /** The server's clock minus ours. */
  let ahead = Number(live.dataset.now) - Date.now();
  let asked = 0;
  /** The last question that was answered. */
  let answered = 0;
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
        const response = await fetch(location.href, {
          headers: { Accept: 'text/html' },
          cache: 'no-store',
          signal: patience(),
        });
        const page = new DOMParser().parseFromString(await response.text(), 'text/html');
        const next = page.getElementById('live');
        if (response.status === 401 && !isLeaving) location.reload();
        // A later question was asked meanwhile: its answer counts.
        if (response.status === 401 || mine !== asked) return;
        answered = mine;
        if (next === null || response.status >= 500) return say('lost', 'Update failed');
        ahead = Number(next.dataset.now) - Date.now();
        document.title = page.title;
        const backToPlace = keepPlace();
        morph(live, next);
        backToPlace();
        await onRefreshed();
        tick();
      } catch {
        // What is shown is newer than what an old question asked for.
        if (mine >= answered) say('lost', 'Connection lost');
      }
    },
  };
}

/** At most one refresh a second, and none while nobody looks: that comes first when somebody does. */
function createRefresher(refresh: () => Promise<void>): () => void {
  let due: ReturnType<typeof setTimeout> | null = null;
  let lastAt = 0;
  const refreshSoon = (): void => {
    if (document.hidden) return;
    due ??= setTimeout(
      () => {
        due = null;
        lastAt = Date.now();
        void refresh();
      },
      Math.max(0, lastAt + REFRESH_EVERY_MS - Date.now()),
    );
  };
  document.addEventListener('visibilitychange', refreshSoon);
  return refreshSoon;
}

interface Stream {
  isOpen(): boolean;
}

/**
 * Listens for hints; while there is no stream, looks by itself. A browser has few connections for one host, and a stream
 * takes one: a page that nobody looks at has none.
 */
function followStream(refreshSoon: () => void): Stream {
  let source: EventSource | null = null;
  let polling: ReturnType<typeof setInterval> | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    source?.close();
    clearInterval(polling);
    clearTimeout(again);
    polling = undefined;
  };
  const open = (): void => {
    source?.close();
    const opened = new EventSource('/api/v2/events?names=snapshot-changed');
    source = opened;
    opened.addEventListener('snapshot-changed', refreshSoon);
    opened.addEventListener('open', () => {
      say('live', 'Live');
      clearInterval(polling);
      polling = undefined;
    });
    opened.addEventListener('error', () => {
      say('lost', 'Connection lost');
      polling ??= setInterval(refreshSoon, RECONNECT_MS);
      // The browser gives up after an answer that is no stream.
      if (opened.readyState === EventSource.CLOSED) again = setTimeout(open, RECONNECT_MS);
    });
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  if (!document.hidden) open();
  return { isOpen: () => source?.readyState === EventSource.OPEN };
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
