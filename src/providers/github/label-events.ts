import { z } from 'zod';
import type { HttpResponse } from '../../lib/http/index.ts';
import { parseLinkHeader } from '../../lib/http/index.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { LabelEvent } from '../../ports/scm.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { toLabelEvents } from './scm-map.ts';
import { LABEL_EVENT } from './scm-schema.ts';
import { KIND, LIST_PAGE } from './settings.ts';

/** The journal is oldest first, and what counts is its end: so many pages are read from there. */
const PAGE_CAP = 10;
const MAX_HOPS = 200;

/** The label events among the last thousand events or so of an issue or pull request, oldest first. */
export async function readLabelJournal(
  http: TrackerHttp,
  events: string,
  logger: Logger,
  signal: AbortSignal,
): Promise<readonly LabelEvent[]> {
  // REST API, "List issue events".
  const read: ReadPage = (page) =>
    http.send('GET', { path: events, query: { per_page: LIST_PAGE, ...(page > 1 ? { page } : {}) } }, signal);
  const pages = await lastPages(read);
  if (pages.leftOut > 0) {
    const facts = { tracker_kind: KIND, endpoint: events, pages: PAGE_CAP, left_out: pages.leftOut };
    logger.warn('journal of events is long, its oldest pages are left out', facts);
  }
  const entries = pages.read.flatMap((page) => http.decode('GET', z.array(z.unknown()), page));
  return toLabelEvents(http.records(LABEL_EVENT, entries, events));
}

/** From the last page back to the first, as far as the cap goes. */
async function lastPages(read: ReadPage): Promise<{ read: HttpResponse[]; leftOut: number }> {
  const first = await read(1);
  const { page: last, number } = await endOf(read, { page: first, number: 1 });
  if (number === 1) return { read: [first], leftOut: 0 };
  const pages = [last];
  let before = number - 1;
  for (; before > 1 && pages.length < PAGE_CAP - 1; before -= 1) pages.unshift(await read(before));
  return before > 1 ? { read: pages, leftOut: before } : { read: [first, ...pages], leftOut: 0 };
}

type ReadPage = (page: number) => Promise<HttpResponse>;

/** A page that did not change may come with the links it had when there were fewer pages: the end is where none lead on. */
async function endOf(read: ReadPage, start: { page: HttpResponse; number: number }): Promise<typeof start> {
  let end = start;
  for (let hops = 0; hops < MAX_HOPS; hops += 1) {
    const further = pageOf(end.page, 'last') ?? pageOf(end.page, 'next') ?? 0;
    if (further <= end.number) break;
    end = { page: await read(further), number: further };
  }
  return end;
}

/** The number of the page a link leads to. */
function pageOf({ headers, url }: HttpResponse, relation: 'next' | 'last'): number | null {
  const link = parseLinkHeader(headers.get('link'), url).get(relation);
  const page = link === undefined ? Number.NaN : Number(new URL(link).searchParams.get('page') ?? Number.NaN);
  return Number.isInteger(page) && page > 0 ? page : null;
}
