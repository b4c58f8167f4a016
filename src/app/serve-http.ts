import type { Settings } from '../domain/model/settings.ts';
import type { Releasers } from '../lib/releasers.ts';
import type { Daemon } from '../ports/daemon.ts';
import { listen } from '../server/listen.ts';
import type { Metrics } from '../server/metrics.ts';
import { createApp } from '../server/routes.ts';

export interface HttpSettings {
  readonly server: Settings['server'];
  /** Wins over `server.port`; null leaves it to the file. */
  readonly port: number | null;
}

/** Serves the pages and the API where the workflow file says so; tells the address, or null where it does not. */
export async function serveHttp(
  daemon: Daemon,
  metrics: Metrics,
  place: HttpSettings,
  releasers: Releasers,
): Promise<string | null> {
  const { token, allowedHosts, webhookSecret, ...address } = place.server;
  const port = place.port ?? address.port;
  if (port === null) return null;
  const { host } = address;
  const app = createApp(daemon, metrics, { token, allowedHosts: [...allowedHosts, hostName(host)], webhookSecret });
  const server = await listen(app, port, { host });
  releasers.push(() => server.stop());
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
