import { crashPoint } from '../crash-point.ts';
import { NotSent } from './send.ts';

/** Asked before a request that changes something is sent. */
export interface MayWrite {
  /** Resolves when something may be written, and rejects when it may not any more. */
  confirm(): Promise<void>;
  /** Asked when the connection stands, which may have taken long: whether that still holds. */
  isConfirmed(): boolean;
}

interface Order {
  readonly settings: { readonly mayWrite?: MayWrite };
  readonly request: { readonly method?: string; readonly onlyReads?: boolean };
}

export function isWrite({ method = 'GET', onlyReads = false }: Order['request']): boolean {
  return method !== 'GET' && method !== 'HEAD' && !onlyReads;
}

/** Only the making of a connection may come between this and the request: whoever sleeps before it finds out here. */
export async function mayBeSent({ settings: { mayWrite }, request }: Order, url: URL, signal: AbortSignal): Promise<void> {
  if (!isWrite(request)) return;
  crashPoint(`before sending ${request.method} ${url.pathname}`);
  if (mayWrite === undefined) return;
  signal.throwIfAborted();
  let cancel = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    cancel = () => reject(signal.reason as Error);
    signal.addEventListener('abort', cancel, { once: true });
  });
  try {
    await Promise.race([mayWrite.confirm(), aborted]);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Tries again what was not sent because the permission had grown old while the connection was made. */
export async function whenConfirmed<T>(order: Order, url: URL, signal: AbortSignal, send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof NotSent)) throw error;
      await mayBeSent(order, url, signal);
    }
  }
}
