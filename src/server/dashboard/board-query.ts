/** What the reader of the board asked to see; all of it lives in the URL. */
export interface BoardQuery {
  /** Text that a row must contain. */
  readonly search: string;
  readonly show: BoardPanel;
  readonly sort: BoardSort;
  /** Page of each list, from 1. */
  readonly page: (panel: string) => number;
  /** The address with some of it changed; pages begin anew unless one is named. */
  readonly link: (changes: Readonly<Record<string, string | number>>) => string;
}

export const BOARD_PANELS = ['all', 'person', 'running', 'retrying', 'holds', 'merge-requests', 'history'] as const;
export type BoardPanel = (typeof BOARD_PANELS)[number];

export const BOARD_SORTS = ['usual', 'identifier', 'newest', 'oldest'] as const;
export type BoardSort = (typeof BOARD_SORTS)[number];

const MAX_SEARCH = 200;

export function boardQuery(given: Readonly<Record<string, string>>): BoardQuery {
  const search = (given.q ?? '').trim().slice(0, MAX_SEARCH);
  const show = oneOf(BOARD_PANELS, given.show) ?? 'all';
  const sort = oneOf(BOARD_SORTS, given.sort) ?? 'usual';
  const kept = { ...(search && { q: search }), ...(show !== 'all' && { show }), ...(sort !== 'usual' && { sort }) };
  return {
    search,
    show,
    sort,
    page: (panel) => Math.max(1, Number(/^\d{1,6}$/.exec(given[panel] ?? '')?.[0] ?? 1)),
    link: (changes) => {
      const all = Object.entries<string | number>({ ...kept, ...changes });
      return `/?${new URLSearchParams(all.map(([name, value]): [string, string] => [name, String(value)])).toString()}`;
    },
  };
}

function oneOf<Word extends string>(words: readonly Word[], text: string | undefined): Word | undefined {
  return words.find((word) => word === text);
}

/** What a row is found and sorted by. */
export interface Sortable {
  readonly identifier: string;
  readonly displayIdentifier: string | null;
  readonly title: string;
  /** Everything else a search looks at. */
  readonly more: readonly string[];
  readonly at: number;
}

/** The rows that contain the text, in the wanted order. */
export function selectRows<Row>(
  rows: readonly Row[],
  { search, sort }: BoardQuery,
  facts: (row: Row) => Sortable,
): readonly Row[] {
  const wanted = search.toLowerCase();
  const found =
    wanted === ''
      ? rows
      : rows.filter((row) => {
          const { identifier, displayIdentifier, title, more } = facts(row);
          return [identifier, displayIdentifier ?? '', title, ...more].some((text) => text.toLowerCase().includes(wanted));
        });
  if (sort === 'usual') return found;
  if (sort === 'identifier') return found.toSorted((a, b) => naturalOrder(facts(a).identifier, facts(b).identifier));
  const sign = sort === 'newest' ? -1 : 1;
  return found.toSorted((a, b) => sign * (facts(a).at - facts(b).at));
}

const NUMERIC = new Intl.Collator('en', { numeric: true });

/** 16 before 156. */
export function naturalOrder(a: string, b: string): number {
  return NUMERIC.compare(a, b);
}
