import type { ServerResponse } from 'node:http';
import type { Context } from 'hono';
import type { Notice } from '../domain/model/notice.ts';
import { NOTICE_NAMES } from '../domain/model/notice-names.ts';
import { didYouMean } from '../lib/nearest-word.ts';
import { shownTitle } from '../lib/short-text.ts';
import type { Daemon } from '../ports/daemon.ts';
import { fail, isoTime } from './http/envelope.ts';
import { throttled } from './http/throttle.ts';
import { wireNames } from './wire-names.ts';

/** Told when something changed that the snapshot shows. */
export const SNAPSHOT_CHANGED = 'snapshot-changed';

export const STREAM_HEARTBEAT_MS = 15_000;
/** At most four hints a second: a busy agent speaks far more often than anybody can look. */
export const HINT_EVERY_MS = 250;
/** What may wait for one client. A first poll of thousands of held issues fits; a client that stopped reading does not. */
export const BUFFER_BYTES = 2 * 1024 * 1024;
/** Streams at the same time; more are told to come again later. */
export const MAX_STREAMS = 256;

/** What a connection lends an answer: none of it is there when the app is called without a socket. */
export interface ClientConnection {
  /** A large answer, sent as it is instead of through a stream; its headers come with the response as always. */
  pieces?: readonly Uint8Array[];
  readonly outgoing?: ServerResponse;
  /** Where the request came from. */
  readonly address?: string;
  /** Aborts when the server stops. */
  readonly stopping?: AbortSignal;
}

/** Everything worth telling as server-sent events; `?names=a,b` narrows it down. */
export function getEvents(daemon: Daemon) {
  const encode = createEncoder(daemon);
  let open = 0;
  return (c: Context<{ Bindings: ClientConnection }>): Response => {
    if (open >= MAX_STREAMS) {
      c.header('Retry-After', '5');
      return fail(c, 'too_many_streams', `${MAX_STREAMS} event streams are open already. Close one, or come again later.`);
    }
    const names = namesOf(c.req.queries('names'));
    if (typeof names === 'string') return fail(c, 'bad_request', names);
    open += 1;
    const body = eventStream(daemon, {
      wants: (name) => names === null || names.has(name),
      encode,
      stopping: c.env?.stopping ?? new AbortController().signal,
      hangUp: () => c.env?.outgoing?.destroy(),
      onEnd: () => (open -= 1),
    });
    return c.body(body, 200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
  };
}

/** The names that are asked for, null for all of them, or what is wrong with the query. */
function namesOf(given: readonly string[] | undefined): ReadonlySet<string> | string | null {
  if (given === undefined) return null;
  const asked = given.flatMap((list) => list.split(',')).map((name) => name.trim());
  const names = asked.filter((name) => name !== '');
  const [first] = names;
  if (first === undefined) return 'names must not be empty.';
  // One that is known is enough: a client may ask for what another version tells.
  if (names.some((name) => EVENT_NAMES.includes(name))) return new Set(names);
  return `There is no event "${first}"${didYouMean(first, EVENT_NAMES) || '.'}`;
}

const EVENT_NAMES: readonly string[] = [SNAPSHOT_CHANGED, ...NOTICE_NAMES];

interface StreamOptions {
  readonly wants: (name: string) => boolean;
  readonly encode: (notice: Notice) => Uint8Array;
  readonly onEnd: () => void;
  readonly stopping: AbortSignal;
  /** Cuts off a client that does not read. */
  readonly hangUp: () => void;
}

function eventStream(daemon: Daemon, options: StreamOptions): ReadableStream<Uint8Array> {
  const over = new AbortController();
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => startStream(daemon, options, { controller, over }),
      cancel: () => over.abort(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
  );
}

interface Stream {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** Aborts once nothing more is to be sent: every listener and timer below ends with it. */
  readonly over: AbortController;
}

function startStream(daemon: Daemon, options: StreamOptions, { controller, over }: Stream): void {
  const { wants, encode, stopping, hangUp, onEnd } = options;
  const end = () => {
    if (over.signal.aborted) return;
    over.abort();
    controller.close();
  };
  const send = (bytes: Uint8Array) => {
    if (over.signal.aborted) return;
    if ((controller.desiredSize ?? 0) >= bytes.byteLength) return controller.enqueue(bytes);
    end();
    hangUp();
  };
  const wantsHints = wants(SNAPSHOT_CHANGED);
  const hint = throttled(HINT_EVERY_MS, over.signal, () =>
    send(encodeText(eventText(SNAPSHOT_CHANGED, { at: isoTime(daemon.clock.now()) }))),
  );
  const heartbeat = setInterval(() => send(HEARTBEAT), STREAM_HEARTBEAT_MS);
  const unlisten = daemon.notices.listen((notice) => {
    if (wants(notice.name)) send(encode(notice));
    if (wantsHints) hint();
  });
  const unwatch = wantsHints ? daemon.whenChanged?.(hint) : undefined;
  stopping.addEventListener('abort', end, { signal: over.signal });
  over.signal.addEventListener('abort', () => {
    clearInterval(heartbeat);
    unlisten();
    unwatch?.();
    onEnd();
  });
  send(RETRY);
  // A client that was away has missed something: it is told to look at once.
  if (wantsHints) hint();
  if (stopping.aborted) end();
}

const encodeText = (text: string): Uint8Array => new TextEncoder().encode(text);
const HEARTBEAT = encodeText(': heartbeat\n\n');
const RETRY = encodeText('retry: 2000\n\n');

/** One notice is written down once, and all streams hold the same bytes. */
function createEncoder({ clock }: Daemon): (notice: Notice) => Uint8Array {
  let last: { readonly notice: Notice; readonly bytes: Uint8Array } | null = null;
  return (notice) => {
    if (last?.notice !== notice) last = { notice, bytes: encodeText(noticeText(notice, clock.now())) };
    return last.bytes;
  };
}

function noticeText(notice: Notice, now: number): string {
  return eventText(notice.name, { at: isoTime(now), ...(wireNames(shownFacts(notice.facts)) as object) });
}

function shownFacts(facts: Notice['facts']): object {
  if (!('issue' in facts)) return facts;
  return { ...facts, issue: { ...facts.issue, title: shownTitle(facts.issue.title) } };
}

function eventText(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
