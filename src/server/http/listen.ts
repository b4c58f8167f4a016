import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onceLoaded } from '../../lib/once.ts';
import type { Answers } from '../answers.ts';
import { trackConnections } from './connections.ts';
import { LOOPBACK } from './loopback.ts';
import type { Site } from '../routes.ts';
import { answerUnparsedRequests } from './unparsed-requests.ts';

/** How long requests under way may take to finish once the server stops. */
const STOP_GRACE_MS = 1_000;
const SWEEP_MS = 20;

/** A client that sends slowly, or nothing, does not keep its connection. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
} as const;
/** Nothing went either way for this long: the client does not read what it asked for, or went without a word. */
const SILENCE_MS = 45_000;

export interface Listening {
  /** Loads what answers, so that no request waits for it. */
  warmUp(): Promise<void>;
  /** From now on another site answers. Event streams of the one before end. */
  replace(site: LoadSite): void;
  /** The one given, or the one the system chose for 0. */
  readonly port: number;
  /** Ends event streams and idle connections at once, lets requests under way finish shortly. */
  stop(): Promise<void>;
}

type LoadSite = () => Promise<Site>;

/**
 * Serves the site, on loopback unless another host is given. The port is bound first, so that one that is taken is told at
 * once; the site is loaded when it is needed.
 */
export async function listen(site: LoadSite, port: number, host: string = LOOPBACK): Promise<Listening> {
  const stopping = new AbortController();
  const answering = createAnswering(site, stopping.signal);
  // A request without a Host gets what any host gets that is not ours; Node would say nothing but 400.
  const server = createServer({ ...LIMITS, requireHostHeader: false }, answering.request);
  server.timeout = SILENCE_MS;
  const connections = trackConnections(server);
  answerUnparsedRequests(server, connections, answering.load);
  await bind(server, host, port);

  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  const stop = async (): Promise<void> => {
    stopping.abort();
    if (server.listening) server.close();
    connections.endIdle();
    // A connection becomes idle when its last answer is out, and would then be kept for a next request.
    const sweep = setInterval(() => connections.endIdle(), SWEEP_MS);
    const late = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS);
    await closed;
    clearInterval(sweep);
    clearTimeout(late);
  };
  const warmUp = async (): Promise<void> => void (await answering.load());
  const { port: bound } = server.address() as AddressInfo;
  return { port: bound, warmUp, replace: answering.replace, stop };
}

interface Answering {
  readonly request: RequestListener;
  load(): Promise<Answers>;
  replace(site: LoadSite): void;
}

/** Loads what answers when the first request comes, unless somebody asks for it before. */
function createAnswering(first: LoadSite, stopping: AbortSignal): Answering {
  let shift = createShift(first, stopping);
  const request: RequestListener = (incoming, outgoing) => {
    const answers = shift.loaded();
    if (answers !== null) return answers.request(incoming, outgoing);
    // Whoever was replaced meanwhile does not answer any more.
    shift.load().then(
      () => request(incoming, outgoing),
      () => outgoing.destroy(),
    );
  };
  return {
    request,
    load: () => shift.load(),
    replace(site) {
      shift.end();
      shift = createShift(site, stopping);
    },
  };
}

/** One site for as long as it answers. */
function createShift(site: LoadSite, stopping: AbortSignal) {
  const over = new AbortController();
  const ended = AbortSignal.any([stopping, over.signal]);
  let answers: Answers | null = null;
  return {
    load: onceLoaded(async () => (answers = await (await import('../answers.ts')).createAnswers(await site(), ended))),
    loaded: () => answers,
    end: () => over.abort(),
  };
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => reject(new Error(bindProblem(error, host, port), { cause: error }));
    server.once('error', refuse);
    server.listen({ port, host }, () => {
      server.off('error', refuse);
      // From here on an error is one connection that could not be accepted, such as for want of file descriptors:
      // it concerns that client only, and without a listener it would end the service.
      server.on('error', () => undefined);
      resolve();
    });
  });
}

function bindProblem(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') {
    return `port ${port} is in use: stop what listens on ${host}:${port}, or choose another port with --port or server.port`;
  }
  if (error.code === 'EACCES') {
    return `port ${port} needs privileges: choose a port above 1023 with --port or server.port`;
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return `${host} is not an address of this machine: change server.host`;
  }
  return `cannot listen on ${host}:${port}: ${error.message}`;
}
