import { morph } from './morph.ts';
import { patience } from './patience.ts';

/** Earlier rows are loaded when the reader comes this close to them. */
const NEAR_PX = 400;

/** Keeps a run's transcript: adds what is new, loads what is earlier as one scrolls up, and follows the end. Gives a way to look again. */
export function followTranscript(): () => Promise<void> {
  const [box, list] = findTranscript();
  addEventListener('scroll', stopFollowingWhenAway, { passive: true });
  if (box !== null && list !== null) watchEarlier(box, list);
  document.getElementById('next-failure')?.addEventListener('click', showNextFailure);
  document.getElementById('follow')?.addEventListener('change', showEnd);
  if (location.hash === '') showEnd();
  return refreshTranscript;
}

function showEnd(): void {
  if (isFollowing()) findTranscript()[1]?.lastElementChild?.scrollIntoView({ block: 'end' });
}

async function refreshTranscript(): Promise<void> {
  const [box, list] = findTranscript();
  // Rows that came after those shown are on the next page, not here.
  if (box === null || list === null || document.getElementById('later') !== null) return;
  const known = firstOpen(list) ?? Number(list.lastElementChild?.getAttribute('data-number') ?? -1);
  addRows(list, await loadRows(box, 'after', known));
  showEnd();
}

/** Looked for each time: a run that has just begun has none yet. */
function findTranscript(): readonly [box: HTMLElement | null, list: Element | null] {
  const box = document.getElementById('transcript');
  return [box, box?.querySelector('ol') ?? null];
}

/** Who scrolls up wants to read there, not to be taken back to the end. */
function stopFollowingWhenAway(): void {
  const follow = document.getElementById('follow');
  const { scrollHeight, clientHeight } = document.documentElement;
  const isAway = scrollHeight - clientHeight - scrollY > NEAR_PX;
  if (follow instanceof HTMLInputElement && isAway) follow.checked = false;
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
    signal: patience(),
  });
  if (!response.ok) throw new Error(`the rows were answered with ${response.status}`);
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
    // One that failed is tried again by the next click or scroll.
    const more = await loadRows(box, 'before', Number(first.getAttribute('data-number'))).catch(() => null);
    busy = false;
    if (more === null) return;
    const height = document.documentElement.scrollHeight;
    list.prepend(...Array.from(more.children));
    // What one reads stays where it is.
    scrollBy(0, document.documentElement.scrollHeight - height);
    const left = Number(more.getAttribute('data-earlier') ?? 0);
    link.textContent = `${left} earlier rows`;
    if (left === 0) link.parentElement?.remove();
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

function showNextFailure(): void {
  const failures = [...document.querySelectorAll('.transcript li.call')].filter(
    (row) => row.querySelector('.chip[data-tone=bad]') !== null,
  );
  const next = failures.find((row) => row.getBoundingClientRect().top > 8) ?? failures[0];
  const follow = document.getElementById('follow');
  if (follow instanceof HTMLInputElement) follow.checked = false;
  next?.scrollIntoView({ block: 'start' });
  next?.querySelector('summary')?.focus({ preventScroll: true });
}
