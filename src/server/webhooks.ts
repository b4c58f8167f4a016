import { createHmac } from 'node:crypto';
import type { Context } from 'hono';
import type { Daemon } from '../ports/daemon.ts';
import { readRequestBody } from './http/body.ts';
import { rememberDeliveries } from './deliveries.ts';
import { fail } from './http/envelope.ts';
import { isSameInHeader } from './access/same-secret.ts';
import { throttled } from './http/throttle.ts';

const MAX_BODY_BYTES = 1024 * 1024;
const HINT_EVERY_MS = 1_000;

interface Vendor {
  readonly kind: string;
  readonly aliases: readonly string[];
  /** Where the signature stands, the first of them that is sent. */
  readonly signature: readonly string[];
  /** What must stand there. */
  readonly expected: (secret: string, body: Buffer) => string;
  readonly delivery: readonly string[];
}

/** Each vendor signs in its own manner; the documentation of each is named beside it. */
const VENDORS: readonly Vendor[] = [
  // GitHub: "Validating webhook deliveries"
  {
    kind: 'repoissues',
    aliases: ['github'],
    signature: ['x-hub-signature-256'],
    expected: (secret, body) => `sha256=${hmac(secret, body)}`,
    delivery: ['x-github-delivery'],
  },
  // GitLab: "Webhooks", "Validate payloads by using a secret token"
  {
    kind: 'nsproject',
    aliases: ['gitlab'],
    signature: ['x-gitlab-token'],
    expected: (secret) => secret,
    delivery: ['x-gitlab-event-uuid'],
  },
  // Gitea, Forgejo: "Webhooks"
  {
    kind: 'selfhosted',
    aliases: ['gitea', 'forgejo'],
    signature: ['x-gitea-signature', 'x-forgejo-signature'],
    expected: hmac,
    delivery: ['x-gitea-delivery', 'x-forgejo-delivery'],
  },
  // Linear: "Webhooks", "Securing webhooks"
  {
    kind: 'graphql',
    aliases: ['linear'],
    signature: ['linear-signature'],
    expected: hmac,
    delivery: ['linear-delivery'],
  },
  // Jira Cloud: "Webhooks", "Secure admin webhooks"
  {
    kind: 'wfboard',
    aliases: ['jira'],
    signature: ['x-hub-signature'],
    expected: (secret, body) => `sha256=${hmac(secret, body)}`,
    delivery: ['x-atlassian-webhook-identifier'],
  },
];

/** A webhook is a hint that something may have changed: the next poll or look comes sooner. Its content is not read. */
export function postWebhook(daemon: Daemon, secret: string | null) {
  const hint = throttled(HINT_EVERY_MS, new AbortController().signal, () => daemon.hint());
  const isNew = rememberDeliveries(daemon);
  return async (c: Context): Promise<Response> => {
    const vendor = findVendor(c.req.param('kind') ?? '');
    if (secret === null || vendor === undefined || !daemon.watchedKinds().includes(vendor.kind)) {
      return fail(c, 'not_found', `There is nothing at ${c.req.path}.`);
    }
    const body = await readRequestBody(c, MAX_BODY_BYTES);
    if (body === null) return fail(c, 'body_too_large', `A webhook may have ${MAX_BODY_BYTES} bytes.`);
    const given = headerOf(c, vendor.signature);
    if (given === undefined || !isSameInHeader(given, vendor.expected(secret, body))) {
      return fail(
        c,
        'bad_signature',
        'The signature of the webhook is missing or wrong: compare its secret with server.webhooks.secret.',
      );
    }
    const fresh = await isNew(vendor.kind, headerOf(c, vendor.delivery));
    if (fresh) hint();
    return c.json({ accepted: true, duplicate: !fresh }, 202);
  };
}

function findVendor(name: string): Vendor | undefined {
  return VENDORS.find(({ kind, aliases }) => kind === name || aliases.includes(name));
}

function hmac(secret: string, body: Buffer): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

function headerOf(c: Context, names: readonly string[]): string | undefined {
  return names.map((name) => c.req.header(name)).find((value) => value !== undefined && value !== '');
}
