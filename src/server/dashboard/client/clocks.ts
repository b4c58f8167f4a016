import { clockText, isClockKind } from '../format.ts';

/** Writes every clock on the page anew; `now` is the server's time. */
export function tellTime(now: number): void {
  for (const clock of document.querySelectorAll<HTMLElement>('[data-clock]')) {
    const kind = clock.dataset.clock ?? '';
    if (!isClockKind(kind)) continue;
    const text = clockText(kind, Number(clock.dataset.at), now);
    if (clock.textContent !== text) clock.textContent = text;
  }
}
