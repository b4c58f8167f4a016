import { isDeepStrictEqual } from 'node:util';
import type { Settings } from '../../domain/model/settings.ts';
import type { Releasers } from '../../lib/releasers.ts';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { Daemon } from '../../ports/daemon.ts';
import { onceLoaded } from '../../lib/once.ts';
import { keepNotices } from '../../server/kept-notices.ts';
import { listen, type Listening } from '../../server/http/listen.ts';
import { LOOPBACK } from '../../server/http/loopback.ts';
import { PRELOADS } from '../../server/preload.ts';
import type { AppOptions, Site } from '../../server/routes.ts';
import { whenQuiet } from './warm-up.ts';

export interface HttpSettings {
  readonly server: Settings['server'];
  /** Wins over `server.port`; null leaves it to the file. */
  readonly port: number | null;
  /** Absent where one serves all the time. */
  readonly kept?: KeptPort | undefined;
}

/** The port that the system chose, for whoever of this process serves next: pages that are open stay where they are. */
export interface KeptPort {
  port: number | null;
}

export interface Served {
  /** Where it listens; null where the workflow file asks for no server. */
  readonly url: string | null;
  /** Lets in whom the edited file lets in, and nobody else. */
  admit(server: Settings['server']): void;
}

/**
 * Serves the pages and the API where the workflow file says so. The metrics are of `measured`, which is the snapshot of the
 * daemon unless another one is given.
 */
export async function serveHttp(
  daemon: Daemon,
  place: HttpSettings,
  releasers: Releasers,
  measured: () => Snapshot | null = daemon.snapshot,
): Promise<Served> {
  const { host } = place.server;
  const port = place.port ?? place.server.port;
  if (port === null) return { url: null, admit: () => undefined };
  const notices = keepNotices(daemon.notices);
  releasers.push(() => notices.stop());
  const load = onceLoaded(async () => {
    const { createSite, createMetrics } = await import('../../server/index.ts');
    return { createSite, metrics: createMetrics(notices, measured, daemon.hosts) };
  });
  const siteOf = (doors: AppOptions) => async (): Promise<Site> => {
    const { createSite, metrics } = await load();
    return createSite(daemon, metrics, doors);
  };
  let doors = doorsOf(place.server, host);
  const server = await listenAgain((at) => listen(siteOf(doors), at, host), port, place.kept);
  releasers.push(() => server.stop());
  const tell = (fault: unknown): void => daemon.logger.error('the pages could not be loaded', { error: String(fault) });
  releasers.push(whenQuiet(daemon.notices, [...PRELOADS, () => server.warmUp().catch(tell)]));
  const addr = `${hostName(host)}:${server.port}`;
  const url = `http://${isWildcard(host) ? '127.0.0.1' : hostName(host)}:${server.port}/`;
  daemon.logger.info('http server listening', { addr, port: server.port, url });
  return {
    url,
    admit(edited) {
      const token = keepsToken(host, edited) ? doors.token : edited.token;
      const next = doorsOf({ ...edited, token }, host);
      if (isDeepStrictEqual(next, doors)) return;
      doors = next;
      server.replace(siteOf(next));
    },
  };
}

/** Where any port will do, the one from before is taken, unless somebody else has it by now. */
async function listenAgain(at: (port: number) => Promise<Listening>, port: number, kept?: KeptPort): Promise<Listening> {
  if (port !== 0 || kept === undefined) return at(port);
  const before = kept.port;
  const server = before === null ? await at(0) : await at(before).catch(() => at(0));
  kept.port = server.port;
  return server;
}

/** Others can reach what listens there: as long as it does, a token is asked for. */
export function keepsToken(listensOn: string, { token }: Settings['server']): boolean {
  return token === null && listensOn !== LOOPBACK;
}

/** Who may come in to what listens on a host. */
function doorsOf({ token, allowedHosts, webhookSecret }: Settings['server'], host: string) {
  // Loopback names always count, and nothing encrypts there: a page at https://127.0.0.1 is somebody else's.
  const own = host === LOOPBACK ? [] : [hostName(host)];
  return { token, allowedHosts: [...allowedHosts, ...own], webhookSecret };
}

/** As it stands in an address: IPv6 in brackets. */
function hostName(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
