import { clockText, isClockKind } from '../format.ts';

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const SHORT = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' });

/** Writes every clock on the page anew; `now` is the server's time. Moments stand in the reader's own zone. */
export function tellTime(now: number): void {
  for (const clock of document.querySelectorAll<HTMLElement>('[data-clock]')) {
    const kind = clock.dataset.clock ?? '';
    if (isClockKind(kind)) write(clock, clockText(kind, Number(clock.dataset.at), now));
  }
  for (const moment of document.querySelectorAll<HTMLElement>('[data-moment]')) {
    const format = moment.dataset.moment === 'short' ? SHORT : MOMENT;
    write(moment, format.format(new Date(Number(moment.dataset.at))));
  }
}

function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
