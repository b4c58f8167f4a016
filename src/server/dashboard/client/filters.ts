const TYPING_MS = 300;

/** Search, filter and sort take effect as one types: the address says what is shown, and the page follows it. */
export function applyFilters(refresh: () => void): void {
  let due: ReturnType<typeof setTimeout> | undefined;
  const apply = (form: HTMLFormElement) => {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (typeof value === 'string' && value !== '' && value !== 'all' && value !== 'usual') query.set(name, value);
    }
    const search = query.toString();
    history.replaceState(null, '', `${location.pathname}${search === '' ? '' : `?${search}`}`);
    refresh();
  };
  const onChange = ({ target }: Event) => {
    const form = target instanceof Element ? target.closest<HTMLFormElement>('form.filters') : null;
    if (form === null) return;
    clearTimeout(due);
    due = setTimeout(() => apply(form), TYPING_MS);
  };
  document.addEventListener('input', onChange);
  document.addEventListener('submit', (event) => {
    if (!(event.target instanceof HTMLFormElement) || !event.target.classList.contains('filters')) return;
    event.preventDefault();
    apply(event.target);
  });
}
