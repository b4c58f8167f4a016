/* Keeps the page as it is on the server, without reloading it: what did not change is not touched. */

const REFRESH_EVERY_MS = 1000;
const POLL_EVERY_MS = 5000;
const LOOK_AGAIN_MS = 30_000;

/** The text of a clock; the same as in format.ts. */
export function clockText(kind, at, now) {
  if (kind === 'until') return at - now <= 0 ? 'now' : `in ${durationText(at - now)}`;
  if (kind === 'ago') return now - at < 1000 ? 'just now' : `${durationText(now - at).replace(/ \d\ds$/, '')} ago`;
  return durationText(now - at);
}

function durationText(ms) {
  const twoDigits = (value) => String(value).padStart(2, '0');
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${twoDigits(seconds % 60)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h ${twoDigits(minutes % 60)}m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)}d ${twoDigits(hours % 24)}h`;
}

/** Makes `from` look like `to` and keeps every node that stays: focus, selection and open details stay with it. */
function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || keyOf(from) !== keyOf(to)) return from.replaceWith(to);
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  if (from.hasAttribute('data-keep') || from.isEqualNode(to)) return;
  morphAttributes(from, to);
  // A clock's text is ours: the server's is as old as its answer.
  if (!from.hasAttribute('data-clock')) morphChildren(from, to);
}

function morphAttributes(from, to) {
  const isOwn = (name) => name === 'open' || (name === 'class' && from.classList.contains('arrived'));
  for (const { name } of [...from.attributes]) if (!to.hasAttribute(name) && !isOwn(name)) from.removeAttribute(name);
  for (const { name, value } of to.attributes) {
    if (!isOwn(name) && from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
}

function morphChildren(from, to) {
  const wanted = new Set([...to.children].map(keyOf).filter(Boolean));
  const known = new Map();
  for (const child of [...from.children]) {
    const key = keyOf(child);
    if (key && wanted.has(key)) known.set(key, child);
    else if (key) child.remove();
  }
  let current = from.firstChild;
  for (const next of [...to.childNodes]) {
    const same = known.get(keyOf(next));
    if (same) {
      if (same !== current) from.insertBefore(same, current);
      current = same.nextSibling;
      morph(same, next);
    } else if (current && !keyOf(next) && !keyOf(current) && current.nodeName === next.nodeName) {
      const after = current.nextSibling;
      morph(current, next);
      current = after;
    } else {
      from.insertBefore(next, current);
      if (keyOf(next)) next.classList.add('arrived');
    }
  }
  while (current) {
    const after = current.nextSibling;
    current.remove();
    current = after;
  }
}

function keyOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.getAttribute('data-key') : null;
}

function start() {
  const live = document.getElementById('live');
  /** The server's clock minus ours. */
  let ahead = Number(live.dataset.now) - Date.now();
  let due = null;
  let lastAt = 0;
  let missed = false;
  let polling = null;

  const tick = () => {
    const now = Date.now() + ahead;
    for (const clock of document.querySelectorAll('[data-clock]')) {
      const text = clockText(clock.dataset.clock, Number(clock.dataset.at), now);
      if (clock.textContent !== text) clock.firstChild.data = text;
    }
  };

  const refresh = async () => {
    due = null;
    lastAt = Date.now();
    try {
      const response = await fetch(location.href, { headers: { Accept: 'text/html' }, cache: 'no-store' });
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      const next = page.getElementById('live');
      if (!next) return;
      ahead = Number(next.dataset.now) - Date.now();
      document.title = page.title;
      morph(live, next);
      tick();
    } catch {
      say('lost', 'Connection lost');
    }
  };

  const refreshSoon = () => {
    if (document.hidden) missed = true;
    else due ??= setTimeout(refresh, Math.max(0, lastAt + REFRESH_EVERY_MS - Date.now()));
  };

  const say = (state, text) => {
    const stream = document.getElementById('stream');
    stream.dataset.state = state;
    if (stream.textContent !== text) stream.textContent = text;
  };

  const connect = () => {
    const source = new EventSource('/api/v2/events?names=snapshot-changed');
    source.addEventListener('snapshot-changed', refreshSoon);
    source.addEventListener('open', () => {
      say('live', 'Live');
      clearInterval(polling);
      polling = null;
    });
    source.addEventListener('error', () => {
      say('lost', 'Reconnecting');
      polling ??= setInterval(refreshSoon, POLL_EVERY_MS);
      // The browser gives up after an answer that is no stream.
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, POLL_EVERY_MS);
    });
  };

  document.addEventListener('visibilitychange', () => {
    if (document.hidden || !missed) return;
    missed = false;
    refreshSoon();
  });
  document.addEventListener('animationend', (event) => event.target.classList.remove('arrived'));
  document.addEventListener('click', (event) => {
    if (event.target.id === 'poll-now') void pollNow(event.target);
  });
  setInterval(tick, 1000);
  setInterval(refreshSoon, LOOK_AGAIN_MS);
  document.documentElement.classList.add('scripted');
  tick();
  connect();
}

async function pollNow(button) {
  button.disabled = true;
  const response = await fetch('/api/v1/refresh', { method: 'POST' }).catch(() => null);
  button.textContent = response?.ok ? 'Requested' : 'Refused';
  setTimeout(() => {
    button.disabled = false;
    button.textContent = 'Poll now';
  }, 2000);
}

if (typeof document !== 'undefined') start();
