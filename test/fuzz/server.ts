import { createHmac } from 'node:crypto';
import { PROVIDER_FACTS } from '../../src/providers/facts.ts';
import { createMetrics } from '../../src/server/metrics/metrics.ts';
import type { ClientConnection } from '../../src/server/events-stream.ts';
import { createApp } from '../../src/server/routes.ts';
import type { Chance } from '../support/random.ts';
import { createFakeDaemon } from '../support/fake-daemon.ts';
import { refuseSecrets } from './agent-events.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { digestOf, isSampled, oneOrAll, type Target } from './target.ts';

const SECRET = 'a-secret-of-webhooks';
const TOKEN = 'a-token-of-the-server';
/** Keeps nothing: a million deliveries would be looked through for each one. */
const notes = { addNotes: async () => {}, listNotes: async () => [] };
const daemon = createFakeDaemon({ notes });
daemon.kinds = PROVIDER_FACTS.map(({ kind }) => kind);
const metrics = createMetrics(daemon.notices, () => daemon.snapshot());
const app = createApp(daemon, metrics, { webhookSecret: SECRET });
const locked = createApp(daemon, metrics, { webhookSecret: SECRET, token: TOKEN, allowedHosts: ['foray.test'] });

/** Every path of the table of routes, with something in the place of its parameters. */
const PATHS = [...new Set(app.routes.map(({ path }) => path))]
  .filter((path) => !path.includes('*'))
  .map((path) => path.replace(':identifier', 'A-1').replace(':id', '7').replace(':kind', 'github'));
const QUERIES = ['', '', '?limit=5&before=9', '?cursor=MTp4&identifier=A-1', '?since=7d&by=agent', '?page=2&outcome=failed'];
const METHODS = ['GET', 'GET', 'POST', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE', 'PATCH'] as const;

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  host: ['127.0.0.1', 'localhost:8080', '[::1]', 'foray.test', 'evil.test', '127.0.0.1:99999', ''],
  origin: ['http://127.0.0.1', 'https://foray.test', 'http://evil.test', 'null', ''],
  'sec-fetch-site': ['same-origin', 'none', 'cross-site', 'same-site'],
  authorization: [`Bearer ${TOKEN}`, 'Bearer x', `bearer  ${TOKEN} `, 'Basic YTpi', 'Bearer'],
  cookie: [`foray_login_80=9999999999999.aaa ann.${'A'.repeat(43)}=`, 'foray_login_80=', 'a=b; foray_login_80=%', '='],
  'content-type': [
    'application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=b',
    'multipart/form-data',
    'text/html; charset=x',
  ],
  'content-length': ['0', '5', '99999999', '-1', 'x'],
  accept: ['text/html', 'application/json', 'text/event-stream', '*/*;q=0'],
  'accept-encoding': ['gzip', 'br, zstd', 'identity;q=0'],
  'if-none-match': ['*', '"x"', 'W/"'],
  'last-event-id': ['7', '-1', '1e9', 'x'],
  'x-forwarded-for': ['1.2.3.4', SECRET],
  'x-forwarded-host': ['evil.test'],
  'x-hub-signature-256': ['sha256=00', 'x'],
  'x-github-delivery': ['1', '__proto__'],
  range: ['bytes=0-1'],
};
const NAMES = Object.keys(HEADERS);
const BODIES = [
  '',
  '{"reason":"release day"}',
  `{"reason":"${daemon.secret}"}`,
  `token=${TOKEN}&name=ann&next=%2Fhistory`,
  'token=x&next=//evil.test',
  '--b\r\nContent-Disposition: form-data; name="token"\r\n\r\nx\r\n--b--\r\n',
  '[1]',
  ' '.repeat(20_000),
] as const;

function makeHeaders(chance: Chance): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { host: '127.0.0.1' };
  for (let count = chance.below(4); count > 0; count -= 1) {
    const name = chance.pick(NAMES);
    const value = chance.pick(HEADERS[name] ?? ['']);
    // Nothing else can be written into a header.
    headers[name] = chance.happens(0.2) ? mutateText(value, chance).replaceAll(/[^\t\u0020-\u007e\u00a0-\u00ff]/g, '') : value;
  }
  return headers;
}

/** Method and address, headers and body, each on a line of its own. */
const http: Target = {
  name: 'HTTP routes',
  make(chance) {
    const address = chance.pick(PATHS) + chance.pick(QUERIES);
    const line = `${chance.pick(METHODS)} ${chance.happens(0.6) ? mutateText(address, chance).replaceAll('\n', ' ') : address}`;
    const body = chance.pick(BODIES);
    return `${line}\n${JSON.stringify(makeHeaders(chance))}\n${chance.happens(0.5) ? mutateText(body, chance) : body}`;
  },
  async take(input, thorough) {
    const request = requestOf(input);
    if (request === null) return;
    for (const one of oneOrAll([app, locked], input, thorough)) await answers(one, request.clone(), input, thorough);
  },
};

function requestOf(input: string): Request | null {
  const [line = '', head = '{}', ...rest] = input.split('\n');
  const [method, address] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)];
  try {
    const url = new URL(`http://127.0.0.1/${address.replace(/^\/+/, '')}`);
    const body = ['GET', 'HEAD'].includes(method) ? {} : { body: rest.join('\n') };
    return url.host === '127.0.0.1'
      ? new Request(url, { method, headers: JSON.parse(head) as Record<string, string>, ...body })
      : null;
  } catch {
    return null;
  }
}

/** Pages are long: one answer in so many is read to its end. */
const READ_ONE_IN = 10;
const LONGEST_ANSWER = 1024 * 1024;
const SHOWN_NOWHERE = [SECRET, TOKEN, daemon.secret];

async function answers(site: typeof app, request: Request, input: string, thorough: boolean): Promise<void> {
  const { headers } = request;
  const isOurs = site === app || headers.get('authorization')?.includes(TOKEN) === true;
  daemon.asked.length = 0;
  // Each comes from an address of its own: wrong tokens from one and the same are put off.
  const response = await site.request(request, undefined, { address: `fuzz ${digestOf(input)}` } as ClientConnection);
  if (response.status >= 500 && response.status !== 503) throw new Error(`status ${response.status}`);
  if (response.headers.get('content-security-policy') === null) throw new Error('no content security policy');
  if (daemon.asked.length > 0 && (!isOurs || !isSameOrigin(headers))) throw new Error('a stranger was obeyed');
  refuseSecrets(JSON.stringify([...response.headers]) + JSON.stringify(daemon.asked), SHOWN_NOWHERE);
  if (thorough || isSampled(input, READ_ONE_IN)) await checkBody(response);
  else await response.body?.cancel();
}

async function checkBody(response: Response): Promise<void> {
  // What never ends is not read to its end.
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) return response.body?.cancel();
  const bytes = Buffer.from(await response.arrayBuffer());
  if (bytes.length > LONGEST_ANSWER) throw new Error(`an answer of ${bytes.length} bytes`);
  if (!response.headers.has('content-encoding')) refuseSecrets(bytes.toString(), SHOWN_NOWHERE);
}

function isSameOrigin(headers: Headers): boolean {
  const [origin, site] = [headers.get('origin'), headers.get('sec-fetch-site') ?? 'none'];
  return !origin?.includes('evil') && origin !== 'null' && ['none', 'same-origin'].includes(site);
}

const HOOK = { action: 'opened', issue: { number: 7, title: 'x' }, repository: { full_name: 'acme/shop' } };

const hmac = (body: Buffer): string => createHmac('sha256', SECRET).update(body).digest('hex');

/** Where each vendor puts its signature and the id of a delivery. */
const VENDORS = [
  {
    name: 'github',
    signature: 'x-hub-signature-256',
    of: (body: Buffer) => `sha256=${hmac(body)}`,
    delivery: 'x-github-delivery',
  },
  { name: 'gitlab', signature: 'x-gitlab-token', of: () => SECRET, delivery: 'x-gitlab-event-uuid' },
  { name: 'gitea', signature: 'x-gitea-signature', of: hmac, delivery: 'x-gitea-delivery' },
  { name: 'linear', signature: 'linear-signature', of: hmac, delivery: 'linear-delivery' },
  {
    name: 'jira',
    signature: 'x-hub-signature',
    of: (body: Buffer) => `sha256=${hmac(body)}`,
    delivery: 'x-atlassian-webhook-identifier',
  },
];

const webhooks: Target = {
  name: 'webhook bodies',
  make: (chance) =>
    chance.happens(0.5) ? JSON.stringify(mutateJson(HOOK, chance, 0.2)) : mutateText(JSON.stringify(HOOK), chance),
  async take(input, thorough) {
    const body = Buffer.from(input);
    for (const { name, signature, of, delivery } of oneOrAll(VENDORS, input, thorough)) {
      const good = of(body);
      const send = (signed: string) =>
        app.request(`/hooks/${name}`, {
          method: 'POST',
          body,
          headers: { host: '127.0.0.1', [delivery]: String(digestOf(input)), [signature]: signed },
        });
      const taken = await send(good);
      if (taken.status !== 202) throw new Error(`a signed body was answered ${taken.status}`);
      const forged = await send(good.replace(/.$/, (last) => (last === '0' ? '1' : '0')));
      if (forged.status !== 401) throw new Error(`a forged signature was answered ${forged.status}`);
    }
  },
};

export const SERVER: readonly Target[] = [http, webhooks];
