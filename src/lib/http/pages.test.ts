import { describe, expect, it } from 'vitest';
import type { HttpResponse } from './response.ts';
import { followPages } from './pages.ts';

const FIRST = 'https://h/list';

/** A list whose pages name their next one by the given table. */
function pagesOf(links: Readonly<Record<string, string>>) {
  const asked: (string | null)[] = [];
  const fetchPage = (next: string | null): Promise<HttpResponse> => {
    asked.push(next);
    const url = next ?? FIRST;
    const link = links[url];
    const headers = new Headers(link ? { link: `<${link}>; rel="next"` } : {});
    return Promise.resolve({ status: 200, headers, url, path: '/list', body: url, truncated: false, json: () => url });
  };
  return { asked, fetchPage };
}

async function read(pages: AsyncIterable<HttpResponse>): Promise<string[]> {
  const bodies: string[] = [];
  for await (const page of pages) bodies.push(page.body);
  return bodies;
}

describe('pages', () => {
  it('are followed by the link as given, relative ones resolved, until there is none', async () => {
    const { asked, fetchPage } = pagesOf({ [FIRST]: 'https://h/list?cursor=a%2Fb', 'https://h/list?cursor=a%2Fb': '?cursor=z' });
    expect(await read(followPages(fetchPage))).toEqual([FIRST, 'https://h/list?cursor=a%2Fb', 'https://h/list?cursor=z']);
    expect(asked[0]).toBeNull();
  });

  it('stop at the cap and say so', async () => {
    const caps: number[] = [];
    const { fetchPage } = pagesOf({ [FIRST]: 'https://h/2', 'https://h/2': 'https://h/3', 'https://h/3': 'https://h/4' });
    expect(await read(followPages(fetchPage, { cap: 3, onCap: (pages) => caps.push(pages) }))).toHaveLength(3);
    expect(caps).toEqual([3]);
  });

  it('that end exactly at the cap are complete', async () => {
    const caps: number[] = [];
    const { fetchPage } = pagesOf({ [FIRST]: 'https://h/2' });
    expect(await read(followPages(fetchPage, { cap: 2, onCap: (pages) => caps.push(pages) }))).toHaveLength(2);
    expect(caps).toEqual([]);
  });

  it.each(['https://other/2', 'http://h/2', 'https://h:8443/2', '//other/2'])(
    'never lead to another origin: %s',
    async (link) => {
      const { asked, fetchPage } = pagesOf({ [FIRST]: link });
      await expect(read(followPages(fetchPage))).rejects.toThrow(/another origin/);
      expect(asked).toHaveLength(1);
    },
  );

  it.each([
    ['to the first page', { [FIRST]: 'https://h/2', 'https://h/2': FIRST }],
    ['to itself', { [FIRST]: 'https://h/2', 'https://h/2': 'https://h/2' }],
  ])('that run in circles %s end at the cap, which is told', async (_, links) => {
    const caps: number[] = [];
    const pages = await read(followPages(pagesOf(links).fetchPage, { cap: 5, onCap: (count) => caps.push(count) }));
    expect([pages.length, caps]).toEqual([5, [5]]);
  });
});
