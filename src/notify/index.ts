import { createHmac } from 'node:crypto';
import { NotificationError } from '../domain/model/errors.ts';
import type { NotificationEntry, NotificationTarget } from '../domain/model/notification.ts';
import {
  boundedWait,
  createHttpClient,
  HttpTransportError,
  parseRetryAfter,
  type HttpResponse,
  type MayWrite,
} from '../lib/http/index.ts';
import type { Notifier } from '../ports/events.ts';
import type { Clock } from '../ports/runtime.ts';
import { bodyOf } from './message.ts';

export interface NotifierDeps {
  readonly version: string;
  readonly clock: Clock;
  /** Where people find the dashboard; null where there is none. */
  readonly dashboard: () => string | null;
  /** Hides every secret in what is sent. */
  readonly maskSecrets: (text: string) => string;
  /** Asked right before a message is sent; absent where nobody else could lead. */
  readonly mayWrite?: MayWrite;
}

/** A receiver that is slower has most likely failed; one that is not should not be told twice. */
const TIMEOUT_MS = 30_000;

/** Posts messages to the targets of one workflow file. */
export function createNotifier(targets: readonly NotificationTarget[], deps: NotifierDeps): Notifier {
  return {
    async send(entry, signal) {
      const target = targets.find(({ name }) => name === entry.write.target);
      if (target === undefined) throw new NotificationError('the target is no longer in the workflow file');
      const body = masked(bodyOf(target.format, entry, linkOf(entry, deps)), deps);
      const headers = headersOf(target, entry, body, deps);
      const limits = { timeoutMs: TIMEOUT_MS, maxBodyBytes: 1024 * 1024 };
      const client = createHttpClient({
        baseUrl: target.url,
        headers,
        ...limits,
        ...(deps.mayWrite && { mayWrite: deps.mayWrite }),
      });
      const order = { method: 'POST', url: target.url, body, keepRedirect: true, cutBodyBytes: 1024 };
      const answer = await client.request(order, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new NotificationError(reasonOf(error));
      });
      if (answer.status < 200 || answer.status > 299) throw refusalOf(answer, deps.clock.now());
    },
  };
}

/** The page of the issue; without a dashboard the issue itself. */
function linkOf({ issue, write }: NotificationEntry, { dashboard }: NotifierDeps): string {
  const base = dashboard();
  return base === null ? issue.url : `${base.replace(/\/+$/, '')}${write.page}`;
}

function masked(body: object, { maskSecrets }: NotifierDeps): object {
  const texts = (value: unknown): unknown => {
    if (typeof value === 'string') return maskSecrets(value);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, texts(part)]));
  };
  return texts(body) as object;
}

/** The signature is over the body as it is sent, in the manner of GitHub's webhooks. */
function headersOf({ secret }: NotificationTarget, { id, write }: NotificationEntry, body: object, { version }: NotifierDeps) {
  const signed = secret === null ? null : createHmac('sha256', secret).update(JSON.stringify(body)).digest('hex');
  return {
    'user-agent': `svc/${version}`,
    'x-foray-event': write.event,
    'x-foray-delivery': id,
    ...(signed === null ? {} : { 'x-foray-signature-256': `sha256=${signed}` }),
  };
}

/** By the system's word alone: messages of the network name the host, and answers repeat the address. */
function reasonOf(error: unknown): string {
  if (error instanceof HttpTransportError) {
    if (error.proxy !== undefined) return `the proxy ${error.proxy.address} could not be reached: see ${error.proxy.variable}`;
    if (error.timedOut) return `no answer within ${TIMEOUT_MS / 1000} s`;
    return `the receiver could not be reached (${error.code ?? 'network error'})`;
  }
  return 'the receiver could not be asked: see that its address is whole';
}

function refusalOf({ status, headers }: HttpResponse, now: number): NotificationError {
  const wait = parseRetryAfter(headers.get('retry-after'), now);
  return new NotificationError(
    `the receiver answered ${status}${REMEDIES[status] ?? ''}`,
    wait === null ? undefined : boundedWait(wait),
  );
}

const GONE = ': the address is no longer one: make a new hook, put it into the variable and restart';
const REMEDIES: Readonly<Record<number, string>> = {
  301: ': it moved; write the new address',
  302: ': it moved; write the new address',
  307: ': it moved; write the new address',
  308: ': it moved; write the new address',
  400: ': it does not understand the message; see `format`',
  401: ': it wants to know who we are; see the address and `secret`',
  403: ': it does not let us; see the address and `secret`',
  404: GONE,
  410: GONE,
};
