import { createHmac } from 'node:crypto';
import type { Context } from 'hono';
import type { Daemon } from '../ports/daemon.ts';
import type { WebhookFacts } from '../ports/provider.ts';
import { readRequestBody } from './http/body.ts';
import { rememberDeliveries } from './deliveries.ts';
import { fail } from './http/envelope.ts';
import { isSameInHeader } from './access/same-secret.ts';
import { throttled } from './http/throttle.ts';

const MAX_BODY_BYTES = 1024 * 1024;
const HINT_EVERY_MS = 1_000;

/** A webhook is a hint that something may have changed: the next poll or look comes sooner. Its content is not read. */
export function postWebhook(daemon: Daemon, secret: string | null) {
  const hint = throttled(HINT_EVERY_MS, new AbortController().signal, () => daemon.hint());
  const isNew = rememberDeliveries(daemon);
  return async (c: Context): Promise<Response> => {
    const name = c.req.param('kind') ?? '';
    const sender = daemon.watchedKinds().find(({ kind, aliases }) => kind === name || aliases.includes(name));
    if (secret === null || sender?.webhook === undefined) {
      return fail(c, 'not_found', `There is nothing at ${c.req.path}.`);
    }
    const body = await readRequestBody(c, MAX_BODY_BYTES);
    if (body === null) return fail(c, 'body_too_large', `A webhook may have ${MAX_BODY_BYTES} bytes.`);
    const given = headerOf(c, sender.webhook.signatureHeaders);
    if (given === undefined || !isSameInHeader(given, proofOf(sender.webhook, secret, body))) {
      return fail(
        c,
        'bad_signature',
        'The signature of the webhook is missing or wrong: compare its secret with server.webhooks.secret.',
      );
    }
    const fresh = await isNew(sender.kind, headerOf(c, sender.webhook.deliveryHeaders));
    if (fresh) hint();
    return c.json({ accepted: true, duplicate: !fresh }, 202);
  };
}

/** What must stand in the header. */
function proofOf({ proof, prefix = '' }: WebhookFacts, secret: string, body: Buffer): string {
  return `${prefix}${proof === 'secret' ? secret : createHmac('sha256', secret).update(body).digest('hex')}`;
}

function headerOf(c: Context, names: readonly string[]): string | undefined {
  return names.map((name) => c.req.header(name)).find((value) => value !== undefined && value !== '');
}
