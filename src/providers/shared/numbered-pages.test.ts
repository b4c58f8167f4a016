import { afterEach, describe, expect, it } from 'vitest';
import { depsWith, never } from '../../../test/fakes/gitea/connect.ts';
import type { TestServer } from '../../../test/support/http-server.ts';
import { json, startServer } from '../../../test/support/http-server.ts';
import { createClient } from '../gitea/client.ts';
import { readNumbered } from './numbered-pages.ts';
import { ENTRIES } from '../gitea/scm-schema.ts';

const running: TestServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

type Page = (page: number, limit: number) => { list: unknown; total?: number };

/** Reads a list from a server that answers as told, and says which pages were asked for. */
async function read(answer: Page, hidden = 0, whole = false) {
  const server = await startServer(({ query }) => {
    const { list, total } = answer(Number(query.get('page')), Number(query.get('limit')));
    return json(list, 200, total === undefined ? {} : { 'x-total-count': String(total) });
  });
  running.push(server);
  const { deps, records } = depsWith();
  const http = createClient({ baseUrl: `${server.url}/api/v1`, apiKey: 'secret', userAgent: null }, deps);
  const list = {
    path: '/list',
    hidden,
    whole,
    entries: (response: Parameters<typeof http.decode>[2]) => http.decode('GET', ENTRIES, response),
  };
  const found = await readNumbered({ http, logger: deps.logger, kind: 'selfhosted', pageSize: 50 }, list, never);
  const asked = server.requests.map(({ query }) => query.toString());
  return {
    found: found.map((entry) => (entry as { id: number }).id),
    asked,
    warnings: records.filter(({ level }) => level === 'warn'),
  };
}

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => ({ id: from + index }));
const cut = (all: readonly unknown[], page: number, size: number) => all.slice((page - 1) * size, page * size);

describe('pages by number', () => {
  it.each<[string, number, number]>([
    ['an empty list', 0, 1],
    ['a short page', 49, 1],
    ['a full page, then an empty one', 50, 2],
    ['a full page, then a short one', 51, 2],
    ['two full pages', 100, 3],
  ])('%s', async (_, count, pages) => {
    const all = numbers(1, count);
    const { found, asked, warnings } = await read((page, limit) => ({ list: cut(all, page, limit) }));
    expect(found).toHaveLength(count);
    expect(asked).toEqual(Array.from({ length: pages }, (__, index) => `page=${index + 1}&limit=50`));
    expect(warnings).toEqual([]);
  });

  it('null is an empty page', async () => {
    expect(await read(() => ({ list: null }))).toMatchObject({ found: [], asked: ['page=1&limit=50'] });
  });

  it('stops at 50 pages with a warning, and keeps what was read', async () => {
    const { found, asked, warnings } = await read((page) => ({ list: numbers(page * 50, 50) }));
    expect([found.length, asked.length]).toEqual([2500, 50]);
    expect(warnings).toMatchObject([
      {
        message: 'tracker list reached the page cap, the rest is left out',
        attributes: { tracker_kind: 'selfhosted', endpoint: '/list', pages: 50 },
      },
    ]);
  });

  it('full pages that repeat themselves end there too', async () => {
    const { found, asked, warnings } = await read(() => ({ list: numbers(1, 50) }));
    expect([found.length, asked.length, warnings.length]).toEqual([50, 50, 1]);
  });

  it('50 pages of which the last is short are no reason to warn', async () => {
    const all = numbers(1, 2499);
    const { found, warnings } = await read((page, limit) => ({ list: cut(all, page, limit) }));
    expect([found.length, warnings]).toEqual([2499, []]);
  });

  it.each([50, 51, 120])('a route that ignores the page and sends all %i each time is read once', async (count) => {
    const all = numbers(1, count);
    const { found, asked } = await read((page) => ({ list: page % 2 === 1 ? all : all.toReversed() }), 0, true);
    expect(found).toEqual(all.map(({ id }) => id));
    expect(asked.length).toBeLessThanOrEqual(2);
  });

  it('a short page is not the last where the header tells a larger total', async () => {
    const all = numbers(1, 70);
    const shown = (page: number, limit: number) => cut(all, page, limit).filter((one) => (one as { id: number }).id !== 7);
    const { found } = await read((page, limit) => ({ list: shown(page, limit), total: 70 }));
    expect(found).toHaveLength(69);
    expect(found.at(-1)).toBe(70);
  });

  it('a server that clamps the page size is read to its end', async () => {
    const all = numbers(1, 45);
    const { found, asked } = await read((page) => ({ list: cut(all, page, 20), total: 45 }));
    expect([found.length, asked.length]).toEqual([45, 3]);
  });

  it('a page that was emptied is not the last while hidden entries are unaccounted for', async () => {
    const all = numbers(1, 161);
    const shown = (page: number, limit: number) =>
      cut(all, page, limit).filter((one) => (one as { id: number }).id <= 10 || (one as { id: number }).id === 161);
    const answer: Page = (page, limit) => ({ list: shown(page, limit), total: shown(page, limit).length });
    expect((await read(answer, 150)).found).toEqual([...numbers(1, 10).map(({ id }) => id), 161]);
    expect((await read(answer)).found).toHaveLength(10);
  });

  it('a server that repeats itself is not asked for ever because of hidden entries', async () => {
    const { found, asked } = await read(() => ({ list: numbers(1, 3) }), 60);
    expect([found, asked.length]).toEqual([[1, 2, 3], 2]);
  });
});
