import { morph } from './morph.ts';

/** Earlier rows are loaded when the reader comes this close to them. */
const NEAR_PX = 400;

/** Keeps a run's transcript: adds what is new, loads what is earlier as one scrolls up, and follows the end. */
export interface TranscriptView {
  refresh(): Promise<void>;
}

export function followTranscript(): TranscriptView | null {
  const box = document.getElementById('transcript');
  const list = box?.querySelector('ol');
  if (box === null || list === undefined || list === null) return null;
  watchEarlier(box, list);
  document.getElementById('next-failure')?.addEventListener('click', () => showNextFailure(list));
  const refresh = async () => {
    // Rows that came after those shown are on the next page, not here.
    if (document.getElementById('later') !== null) return;
    const known = firstOpen(list) ?? Number(list.lastElementChild?.getAttribute('data-number') ?? -1);
    addRows(list, await loadRows(box, 'after', known));
    if (isFollowing()) list.lastElementChild?.scrollIntoView({ block: 'end' });
  };
  if (isFollowing() && location.hash === '') list.lastElementChild?.scrollIntoView({ block: 'end' });
  return { refresh };
}

function isFollowing(): boolean {
  const follow = document.getElementById('follow');
  return follow instanceof HTMLInputElement && follow.checked && !document.hidden;
}

/** The number before the first row that still changes. */
function firstOpen(list: Element): number | null {
  const open = list.querySelector('[data-open]')?.getAttribute('data-number');
  return open === undefined || open === null ? null : Number(open) - 1;
}

async function loadRows(box: HTMLElement, direction: 'before' | 'after', number: number): Promise<Element | null> {
  const query = new URLSearchParams(location.search);
  query.delete('before');
  query.delete('after');
  query.set(direction, String(Math.max(0, number)));
  const response = await fetch(`/runs/${encodeURIComponent(box.dataset.run ?? '')}/rows?${query.toString()}`, {
    cache: 'no-store',
  });
  if (!response.ok) return null;
  return new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('ol');
}

/** Rows that are there already are brought up to date, the others are added at the end. */
function addRows(list: Element, more: Element | null): void {
  for (const row of Array.from(more?.children ?? [])) {
    const same = document.getElementById(row.id);
    if (same === null) list.append(row);
    else morph(same, row);
  }
}

function watchEarlier(box: HTMLElement, list: Element): void {
  const link = document.getElementById('earlier');
  if (!(link instanceof HTMLAnchorElement)) return;
  let busy = false;
  const load = async () => {
    const [first] = list.children;
    if (busy || first === undefined) return;
    busy = true;
    const more = await loadRows(box, 'before', Number(first.getAttribute('data-number')));
    const height = document.documentElement.scrollHeight;
    list.prepend(...Array.from(more?.children ?? []));
    // What one reads stays where it is.
    scrollBy(0, document.documentElement.scrollHeight - height);
    const left = Number(more?.getAttribute('data-earlier') ?? 0);
    link.textContent = `${left} earlier rows`;
    if (left === 0) link.parentElement?.remove();
    busy = false;
  };
  link.addEventListener('click', (event) => {
    event.preventDefault();
    void load();
  });
  addEventListener(
    'scroll',
    () => {
      if (!isFollowing() && link.isConnected && link.getBoundingClientRect().top > -NEAR_PX) void load();
    },
    { passive: true },
  );
}

function showNextFailure(list: Element): void {
  const failures = [...list.querySelectorAll('li.call')].filter((row) => row.querySelector('.chip[data-tone=bad]') !== null);
  const next = failures.find((row) => row.getBoundingClientRect().top > 8) ?? failures[0];
  const follow = document.getElementById('follow');
  if (follow instanceof HTMLInputElement) follow.checked = false;
  next?.scrollIntoView({ block: 'start' });
  next?.querySelector('summary')?.focus({ preventScroll: true });
}
