import type { Context } from 'hono';
import type { Daemon } from '../ports/daemon.ts';
import { getIssue, getState, postRefresh } from './api.ts';
import { getHolds, getMergeRequests, getParked, getRun, getRuns } from './api-v2.ts';
import { getDashboard, getRunPage, getScript, getStyle } from './dashboard/pages.ts';
import { fail } from './envelope.ts';
import { getEvents, type Connection } from './events-stream.ts';
import { getLiveness, getReadiness } from './health.ts';
import type { Metrics } from './metrics.ts';
import { createSecureApp, guardHost, guardMethod, type App, type Method } from './security.ts';

export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly answer: (c: Context<{ Bindings: Connection }>) => Response | Promise<Response>;
}

/** Everything the server answers, without a socket: host, then method, then route. */
export function createApp(daemon: Daemon, metrics: Metrics): App {
  const app = createSecureApp();
  app.use('*', guardHost());
  for (const { method, path, answer } of routes(daemon, metrics)) app.all(path, guardMethod(method), answer);
  app.notFound((c) => fail(c, 'not_found', `There is nothing at ${c.req.path}.`));
  app.onError((error, c) => {
    daemon.logger.error('http request failed', { method: c.req.method, path: c.req.path, error: error.message });
    return fail(c, 'internal_error', 'The request failed. The log of the service says why.');
  });
  return app;
}

/** The whole surface. `state` and `refresh` come before the identifier that would otherwise take their place. */
export function routes(daemon: Daemon, metrics: Metrics): readonly Route[] {
  return [
    { method: 'GET', path: '/', answer: getDashboard(daemon) },
    { method: 'GET', path: '/runs/:id', answer: getRunPage(daemon) },
    { method: 'GET', path: '/assets/dashboard.css', answer: getStyle },
    { method: 'GET', path: '/assets/dashboard.js', answer: getScript },
    { method: 'GET', path: '/livez', answer: getLiveness(daemon) },
    { method: 'GET', path: '/readyz', answer: getReadiness(daemon) },
    {
      method: 'GET',
      path: '/metrics',
      answer: async (c) => c.body(await metrics.render(), 200, { 'Content-Type': metrics.contentType }),
    },
    { method: 'GET', path: '/api/v1/state', answer: getState(daemon) },
    { method: 'POST', path: '/api/v1/refresh', answer: postRefresh(daemon) },
    { method: 'GET', path: '/api/v1/:identifier', answer: getIssue(daemon) },
    { method: 'GET', path: '/api/v2/runs', answer: getRuns(daemon) },
    { method: 'GET', path: '/api/v2/runs/:id', answer: getRun(daemon) },
    { method: 'GET', path: '/api/v2/parked', answer: getParked(daemon) },
    { method: 'GET', path: '/api/v2/holds', answer: getHolds(daemon) },
    { method: 'GET', path: '/api/v2/merge-requests', answer: getMergeRequests(daemon) },
    { method: 'GET', path: '/api/v2/events', answer: getEvents(daemon) },
  ];
}
