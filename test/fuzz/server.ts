import { createHmac } from 'node:crypto';
import { PROVIDER_FACTS } from '../../src/providers/facts.ts';
import { createMetrics } from '../../src/server/metrics/metrics.ts';
import { createApp } from '../../src/server/routes.ts';
import { createFakeDaemon } from '../support/fake-daemon.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { digestOf, oneOrAll, type Target } from './target.ts';

const SECRET = 'a-secret-of-webhooks';
/** Keeps nothing: a million deliveries would be looked through for each one. */
const notes = { addNotes: async () => {}, listNotes: async () => [] };
const daemon = createFakeDaemon({ notes });
daemon.kinds = PROVIDER_FACTS.map(({ kind }) => kind);
const app = createApp(
  daemon,
  createMetrics(daemon.notices, () => daemon.snapshot()),
  { webhookSecret: SECRET },
);

/** Every path of the table of routes, with something in the place of its parameters. */
const PATHS = [...new Set(app.routes.map(({ path }) => path))]
  .filter((path) => !path.includes('*'))
  .map((path) => path.replace(':identifier', 'A-1').replace(':id', '7').replace(':kind', 'github'));
const QUERIES = ['', '', '?limit=5&before=9', '?cursor=MTp4&identifier=A-1', '?since=7d&by=agent', '?page=2&outcome=failed'];

async function answers(request: Request): Promise<void> {
  const response = await app.request(request);
  if (response.status >= 500 && response.status !== 503) throw new Error(`status ${response.status}`);
  if (response.headers.get('content-security-policy') === null) throw new Error('no content security policy');
  await response.body?.cancel();
}

const http: Target = {
  name: 'HTTP routes',
  make: (chance) =>
    `${chance.pick(['GET', 'POST', 'PUT', 'HEAD', 'OPTIONS'])} ${mutateText(chance.pick(PATHS) + chance.pick(QUERIES), chance)}`,
  async take(input) {
    const at = input.indexOf(' ');
    let url: URL;
    try {
      url = new URL(`http://127.0.0.1/${input.slice(at + 1).replace(/^\/+/, '')}`);
    } catch {
      return;
    }
    if (url.host !== '127.0.0.1') return;
    const method = input.slice(0, at);
    await answers(new Request(url, { method, headers: { host: '127.0.0.1' }, ...(method === 'POST' ? { body: input } : {}) }));
  },
};

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
