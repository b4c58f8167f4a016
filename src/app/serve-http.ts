import type { Settings } from '../domain/model/settings.ts';
import type { Releasers } from '../lib/releasers.ts';
import type { Snapshot } from '../domain/views/snapshot.ts';
import type { Daemon } from '../ports/daemon.ts';
import { keepNotices } from '../server/kept-notices.ts';
import { listen } from '../server/listen.ts';
import { PIECES } from '../server/pieces.ts';
import type { Site } from '../server/routes.ts';
import { whenQuiet } from './warm-up.ts';

export interface HttpSettings {
  readonly server: Settings['server'];
  /** Wins over `server.port`; null leaves it to the file. */
  readonly port: number | null;
}

/**
 * Serves the pages and the API where the workflow file says so; tells the address, or null where it does not. The metrics
 * are of `measured`, which is the snapshot of the daemon unless another one is given.
 */
export async function serveHttp(
  daemon: Daemon,
  place: HttpSettings,
  releasers: Releasers,
  measured: () => Snapshot | null = daemon.snapshot,
): Promise<string | null> {
  const { token, allowedHosts, webhookSecret, ...address } = place.server;
  const port = place.port ?? address.port;
  if (port === null) return null;
  const { host } = address;
  const notices = keepNotices(daemon.notices);
  releasers.push(() => notices.stop());
  const site = async (): Promise<Site> => {
    const { createSite, createMetrics } = await import('../server/index.ts');
    const metrics = createMetrics(notices, measured, daemon.hosts);
    return createSite(daemon, metrics, { token, allowedHosts: [...allowedHosts, hostName(host)], webhookSecret });
  };
  const server = await listen(site, port, { host });
  releasers.push(() => server.stop());
  const tell = (fault: unknown): void => daemon.logger.error('the pages could not be loaded', { error: String(fault) });
  releasers.push(whenQuiet(daemon.notices, [...PIECES, () => server.warmUp().catch(tell)]));
  const addr = `${hostName(host)}:${server.port}`;
  const url = `http://${isWildcard(host) ? '127.0.0.1' : hostName(host)}:${server.port}/`;
  daemon.logger.info('http server listening', { addr, port: server.port, url });
  return url;
}

/** As it stands in an address: IPv6 in brackets. */
function hostName(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
