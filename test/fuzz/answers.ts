import type { Dispatcher } from 'undici';
import { connections } from '../../src/lib/http/connections.ts';
import type { Chance } from '../support/random.ts';
import { mutateJson, mutateText } from './mutate.ts';

/** A page that promises another for ever is followed a few times. */
const MOST_ANSWERS = 20;
const CONTROLLER = { abort: () => {}, pause: () => {}, resume: () => {} } as unknown as Dispatcher.DispatchController;

/** What remotes show of a credential in their errors must not come out here. */
export const TOKEN = 'secret-token-1';
export const ORIGIN = 'http://127.0.0.1:9';

let given = 0;

/** How many answers were given so far: none means that no request comes this way. */
export function answersGiven(): number {
  return given;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Answers of an input are set apart by this; one that has a head begins with the mark. */
const APART = '\u001e';
const MARK = 'HTTP ';

/** From now on requests are answered with these in turn, the last one for ever, until the returned function is called. */
export async function answerAlways(input: string): Promise<() => void> {
  const dispatcher = await connections();
  const answers = input.split(APART).map(readAnswer);
  let count = 0;
  dispatcher.dispatch = (_, handler) => {
    const answer = answers[Math.min(count, answers.length - 1)];
    count += 1;
    given += 1;
    if (count > MOST_ANSWERS || !answer) handler.onResponseError?.(CONTROLLER, new Error('enough of them'));
    else give(handler, answer);
    return true;
  };
  // Its own one is that of its class.
  return () => void Reflect.deleteProperty(dispatcher, 'dispatch');
}

function give(handler: Dispatcher.DispatchHandler, { status, headers, body }: Answer): void {
  handler.onRequestStart?.(CONTROLLER, {});
  try {
    handler.onResponseStart?.(CONTROLLER, status, headers, '');
    handler.onResponseData?.(CONTROLLER, body);
    handler.onResponseEnd?.(CONTROLLER, {});
  } catch (error) {
    // As the real one does with what a handler throws.
    handler.onResponseError?.(CONTROLLER, error as Error);
  }
}

function readAnswer(text: string): Answer {
  const plain = { status: 200, headers: { 'content-type': 'application/json' } };
  if (!text.startsWith(MARK)) return { ...plain, body: Buffer.from(text) };
  const end = text.indexOf('\n');
  const head = JSON.parse(text.slice(MARK.length, end)) as Pick<Answer, 'status' | 'headers'>;
  return { ...head, body: Buffer.from(text.slice(end + 1)) };
}

/** One answer as it should be, or up to three of any status, with any headers, with errors among them. */
export function makeAnswers(chance: Chance, body: () => string): string {
  if (chance.happens(0.4)) return body();
  return Array.from({ length: 1 + chance.below(3) }, () => {
    const status = chance.happens(0.4) ? 200 : chance.pick(STATUSES);
    const isError = status >= 400 ? chance.happens(0.8) : chance.happens(0.1);
    return `${MARK}${JSON.stringify({ status, headers: makeHeaders(chance) })}\n${isError ? makeError(chance) : body()}`;
  }).join(APART);
}

const STATUSES = [
  201, 202, 204, 206, 226, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 412, 413, 418,
  422, 423, 424, 429, 451, 498, 500, 501, 502, 503, 504, 520, 599, 999,
] as const;

const NEXT = `${ORIGIN}/api/x?page=2&per_page=100`;
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  'content-type': [
    'application/json',
    'application/json; charset=utf-8',
    'text/html',
    'text/plain',
    'application/graphql-response+json',
  ],
  link: [`<${NEXT}>; rel="next", <${ORIGIN}/x>; rel="last"`, '<?page=3>; rel=next', '<https://evil.test/>; rel="next"', '<'],
  location: [NEXT, '/x', 'https://evil.test/', '//evil.test', 'http://[', ''],
  'retry-after': ['0', '1', '120', '-1', '1e9', '99999999999999999999', 'Wed, 21 Oct 2026 07:28:00 GMT', 'soon'],
  'x-ratelimit-remaining': ['0', '1', '4999', '-5', 'many'],
  'x-ratelimit-limit': ['5000', '0', ''],
  'x-ratelimit-reset': ['1800000000', '1800000000000', '60', '2026-01-01T00:00:00Z', '-1'],
  'x-ratelimit-resource': ['core', 'search', 'graphql', '__proto__'],
  'x-ratelimit-requests-remaining': ['0', '100'],
  'x-ratelimit-complexity-remaining': ['0', '100000'],
  'x-ratelimit-requests-reset': ['1800000000000', 'x'],
  'ratelimit-remaining': ['0', '7'],
  'ratelimit-reset': ['1800000000', ''],
  'x-next-page': ['2', '', '-1', '1e9', TOKEN],
  'x-total': ['5', 'x'],
  'x-total-count': ['500', '-1'],
  'x-oauth-scopes': ['repo, read:org', '', TOKEN],
  'x-github-sso': [`required; url=${ORIGIN}/${TOKEN}`],
  'x-seraph-loginreason': ['AUTHENTICATED_FAILED', 'AUTHENTICATION_DENIED'],
  'www-authenticate': ['Basic realm="x"', 'Bearer error="invalid_token"'],
  'content-encoding': ['gzip', 'br', 'deflate', 'identity', 'zstd', 'x, y'],
  etag: ['"a"', 'W/"b"', '"'],
  date: ['Thu, 01 Jan 2026 00:00:00 GMT', 'never'],
};
const NAMES = Object.keys(HEADERS);

function makeHeaders(chance: Chance): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (let count = chance.below(5); count > 0; count -= 1) {
    const name = chance.pick(NAMES);
    const value = chance.pick(HEADERS[name] ?? ['']);
    // Nothing else can be written into a header.
    headers[name] = chance.happens(0.2) ? mutateText(value, chance).replaceAll(/[^\t\u0020-\u007e\u00a0-\u00ff]/g, '') : value;
  }
  return headers;
}

const ERRORS: readonly unknown[] = [
  {
    message: `Bad credentials ${TOKEN}`,
    errors: [{ resource: 'Issue', field: 'state', code: 'invalid', message: 'no' }],
    status: '422',
  },
  {
    message: { base: [`cannot ${TOKEN}`], labels: ['too long'] },
    error: 'insufficient_scope',
    error_description: 'x',
    scope: 'api',
  },
  { errorMessages: [`No ${TOKEN}`], errors: { summary: 'is required', labels: `The label ${TOKEN}` } },
  {
    errors: [{ message: TOKEN, path: ['issue'], extensions: { code: 'RATELIMITED', type: 'x', userPresentableMessage: TOKEN } }],
    data: null,
  },
  { message: 'API rate limit exceeded', documentation_url: 'https://docs.test/rate-limits' },
  { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.', url: TOKEN },
];
const PLAIN_ERRORS = ['', `<!DOCTYPE html><title>${TOKEN}</title>`, `Not here: ${TOKEN}\n`, 'null', '"x"', '[]', '<html', '{'];

function makeError(chance: Chance): string {
  if (chance.happens(0.2)) return chance.pick(PLAIN_ERRORS);
  const text = JSON.stringify(mutateJson(chance.pick(ERRORS), chance, 0.1));
  return chance.happens(0.1) ? mutateText(text, chance) : text;
}
