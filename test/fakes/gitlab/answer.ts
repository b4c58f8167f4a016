import type { RecordedRequest, Reply } from '../../support/http-server.ts';
import { json } from '../../support/http-server.ts';

/** The shapes in which the vendor reports errors, each where the vendor uses it. */
export const answers = {
  unauthorized: () => json({ message: '401 Unauthorized' }, 401),
  revoked: () =>
    json({ error: 'invalid_token', error_description: 'Token was revoked. You have to re-authorize from the user.' }, 401),
  insufficientScope: () =>
    json(
      {
        error: 'insufficient_scope',
        error_description: 'The request requires higher privileges than provided by the access token.',
        scope: 'api',
      },
      403,
    ),
  forbidden: () => json({ message: '403 Forbidden' }, 403),
  routeMiss: () => json({ error: '404 Not Found' }, 404),
  projectMiss: () => json({ message: '404 Project Not Found' }, 404),
  resourceMiss: () => json({ message: '404 Not found' }, 404),
  badParameter: (what: string) => json({ error: what }, 400),
  modelErrors: (errors: Readonly<Record<string, readonly string[]>>) => json({ message: errors }, 400),
  badRequest: (what: string) => json({ message: `400 Bad request - ${what}` }, 400),
  conflict: (what: string) => json({ message: what }, 409),
} as const;

/** Above this many entries the vendor leaves out totals and the last page. */
const COUNTED = 10_000;

/** One page of a list with the vendor's paging headers and absolute links. Page sizes above the limit are clamped. */
export function page<T>(
  request: RecordedRequest,
  entries: readonly T[],
  { maxPerPage, show }: { maxPerPage: number; show: (entry: T) => unknown },
): Reply {
  const asked = Number(request.query.get('per_page') ?? '20');
  const number = Number(request.query.get('page') ?? '1');
  if (!(asked >= 1)) return answers.badParameter('per_page does not have a valid value');
  if (!(number >= 1)) return answers.badParameter('page does not have a valid value');
  const size = Math.min(asked, 100, maxPerPage);
  const pages = Math.max(1, Math.ceil(entries.length / size));
  const counted = entries.length <= COUNTED;
  const links = linksOf(request, size, { number, pages, counted });
  const next = number < pages ? String(number + 1) : '';
  return json(entries.slice((number - 1) * size, number * size).map(show), 200, {
    link: links.join(', '),
    'x-page': String(number),
    'x-per-page': String(size),
    'x-next-page': next,
    'x-prev-page': number > 1 ? String(number - 1) : '',
    ...(counted ? { 'x-total': String(entries.length), 'x-total-pages': String(pages) } : {}),
  });
}

function linksOf(request: RecordedRequest, size: number, at: { number: number; pages: number; counted: boolean }): string[] {
  const link = (rel: string, number: number): string => {
    const query = new URLSearchParams(request.query);
    query.set('page', String(number));
    query.set('per_page', String(size));
    return `<http://${request.headers.host}${request.path}?${query.toString()}>; rel="${rel}"`;
  };
  return [
    ...(at.number > 1 ? [link('prev', at.number - 1)] : []),
    ...(at.number < at.pages ? [link('next', at.number + 1)] : []),
    link('first', 1),
    ...(at.counted ? [link('last', at.pages)] : []),
  ];
}

/** Lists are taken as an array or as text with commas. */
export function listOf(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const parts = Array.isArray(value) ? value.map(String) : String(value).split(',');
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** The body as the vendor reads it: JSON or a form. */
export function bodyOf(request: RecordedRequest): Readonly<Record<string, unknown>> {
  if (request.body === '') return {};
  if (request.headers['content-type']?.startsWith('application/json')) return request.json() as Record<string, unknown>;
  return Object.fromEntries(new URLSearchParams(request.body));
}
