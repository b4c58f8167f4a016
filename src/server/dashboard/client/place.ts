/** Where the reader is, before something changes the page. Gives a way to bring them back to it afterwards. */
export function keepPlace(at: Element | null = document.activeElement): () => void {
  const around = at?.closest('.panel, .heading, .controls');
  return () => {
    if (at === null || document.activeElement !== document.body) return;
    // Of a row that is gone, to the head of its list, not to the top of the page; of a control, to one beside it.
    const next = at.isConnected ? at : around?.querySelector('h1, h2, .controls button:enabled');
    if (next instanceof HTMLElement) next.focus({ preventScroll: true });
  };
}
