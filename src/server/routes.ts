import type { Context } from 'hono';
import { compress } from 'hono/compress';
import { RecordsError } from '../domain/model/errors.ts';
import { ISSUE_REQUEST_KINDS } from '../domain/model/operator.ts';
import { errorText } from '../lib/error-text.ts';
import type { Daemon } from '../ports/daemon.ts';
import { createAccess, type Access } from './access/access.ts';
import { getIssue, getState, postRefresh } from './api/v1.ts';
import { getIssueRecord } from './api/issue-record.ts';
import { getHolds, getMergeRequests, getNotifications, getParked, getStatistics, getWorkers, getWorkflow } from './api/lists.ts';
import { getOpenApi } from './api/openapi/index.ts';
import { postIssueRequest, postPause, postResume } from './api/operator.ts';
import { getRun, getRuns } from './api/runs.ts';
import { getScript, getStyle } from './dashboard/assets.ts';
import { getBoard } from './dashboard/board.ts';
import { getHistoryPage } from './dashboard/history.ts';
import { getIssuePage } from './dashboard/issue-page.ts';
import { failedPage } from './dashboard/notice-page.ts';
import { getRunPage, getTranscriptRows } from './dashboard/run-page.ts';
import { getStatisticsPage } from './dashboard/statistics-page.ts';
import { createFastPath, type FastPath } from './fast-path.ts';
import { ERROR_STATUS, fail } from './http/envelope.ts';
import { getEvents, type ClientConnection } from './events-stream.ts';
import { getLiveness, getReadiness } from './health.ts';
import type { Metrics } from './metrics/metrics.ts';
import {
  createSecureApp,
  guardHost,
  guardMethod,
  guardOrigin,
  hostCheck,
  type App,
  type RouteMethod,
} from './access/security.ts';
import { postWebhook } from './webhooks.ts';

/** Who may come in and what they may send, from the server section of the workflow file. */
export interface AppOptions {
  readonly token?: string | null;
  readonly allowedHosts?: readonly string[];
  readonly webhookSecret?: string | null;
}

export interface Route {
  readonly method: RouteMethod;
  readonly path: string;
  /** Webhooks come from elsewhere and carry a signature instead. */
  readonly anyOrigin?: boolean;
  /** A person looks at it: where it fails, they are told in a page. */
  readonly isPage?: boolean;
  readonly answer: (c: Context<{ Bindings: ClientConnection }>) => Response | Promise<Response>;
}

/** The app, and what is answered without it. */
export interface Site {
  readonly app: App;
  readonly fastPath: FastPath;
  /** Whether a host, in lower case, is one that is answered to. */
  readonly knowsHost: (host: string) => boolean;
}

export function createSite(daemon: Daemon, metrics: Metrics, options: AppOptions = {}): Site {
  const knowsHost = hostCheck(options.allowedHosts ?? []);
  return { app: createApp(daemon, metrics, options), fastPath: createFastPath(daemon, options), knowsHost };
}

/** Everything the server answers, without a socket: host, then token, method, origin and route. */
export function createApp(daemon: Daemon, metrics: Metrics, options: AppOptions = {}): App {
  const { token = null, allowedHosts = [], webhookSecret = null } = options;
  const access = createAccess(token, daemon);
  const app = createSecureApp();
  app.use('*', guardHost(allowedHosts), access.guard);
  // Pages and what they are made of; the API is sent as it is.
  app.use('*', compress({ contentTypeFilter: /^text\/(?:html|css|javascript)/ }));
  for (const { method, path, anyOrigin, isPage, answer } of routes(daemon, metrics, { access, webhookSecret })) {
    app.all(path, guardMethod(method));
    if (method === 'POST' && anyOrigin !== true) app.all(path, guardOrigin(allowedHosts));
    app.all(path, isPage === true ? orFailedPage(daemon, answer) : answer);
  }
  app.notFound((c) => fail(c, 'not_found', `There is nothing at ${c.req.path}.`));
  app.onError((error, c) => {
    tellFailure(daemon, c, error);
    return isAway(error)
      ? fail(c, 'database_unavailable', DATABASE_AWAY)
      : fail(c, 'internal_error', `The request failed. ${LOG_TELLS}`);
  });
  return app;
}

function orFailedPage(daemon: Daemon, answer: Route['answer']): Route['answer'] {
  return async (c) => {
    try {
      return await answer(c);
    } catch (error) {
      tellFailure(daemon, c, error);
      if (isAway(error)) return c.html(failedPage(daemon, DATABASE_AWAY), ERROR_STATUS.database_unavailable);
      return c.html(failedPage(daemon, `This page could not be made. ${LOG_TELLS}`), ERROR_STATUS.internal_error);
    }
  };
}

const LOG_TELLS = 'The log of the service says why.';
const DATABASE_AWAY = 'The database cannot be reached at the moment. Ask again when it answers; the log of the service says why.';

function isAway(error: unknown): boolean {
  return error instanceof RecordsError && error.isAway;
}

function tellFailure({ logger }: Daemon, { req }: Context, error: unknown): void {
  logger.error('http request failed', { method: req.method, path: req.path, error: errorText(error) });
}

interface Doors {
  readonly access: Access;
  readonly webhookSecret: string | null;
}

/** The whole surface. `state` and `refresh` come before the identifier that would otherwise take their place. */
export function routes(daemon: Daemon, metrics: Metrics, { access, webhookSecret }: Doors): readonly Route[] {
  return [
    { method: 'GET', path: '/', isPage: true, answer: getBoard(daemon) },
    { method: 'GET', path: '/history', isPage: true, answer: getHistoryPage(daemon) },
    { method: 'GET', path: '/runs/:id', isPage: true, answer: getRunPage(daemon) },
    { method: 'GET', path: '/runs/:id/rows', answer: getTranscriptRows(daemon) },
    { method: 'GET', path: '/issues/:identifier', isPage: true, answer: getIssuePage(daemon) },
    { method: 'GET', path: '/statistics', isPage: true, answer: getStatisticsPage(daemon) },
    { method: 'GET', path: '/assets/dashboard.css', answer: getStyle },
    { method: 'GET', path: '/assets/dashboard.js', answer: getScript },
    { method: 'GET', path: '/login', answer: access.getLogin },
    { method: 'POST', path: '/session', answer: access.postLogin },
    { method: 'POST', path: '/logout', answer: access.postLogout },
    { method: 'POST', path: '/hooks/:kind', anyOrigin: true, answer: postWebhook(daemon, webhookSecret) },
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
    { method: 'GET', path: '/api/v2/workers', answer: getWorkers(daemon) },
    { method: 'GET', path: '/api/v2/notifications', answer: getNotifications(daemon) },
    { method: 'GET', path: '/api/v2/workflow', answer: getWorkflow(daemon) },
    { method: 'GET', path: '/api/v2/statistics', answer: getStatistics(daemon) },
    { method: 'GET', path: '/api/v2/openapi.json', answer: getOpenApi(daemon) },
    { method: 'GET', path: '/api/v2/issues/:identifier', answer: getIssueRecord(daemon) },
    ...ISSUE_REQUEST_KINDS.map((kind) => ({
      method: 'POST' as const,
      path: `/api/v2/issues/:identifier/${kind}`,
      answer: postIssueRequest(daemon, access, kind),
    })),
    { method: 'POST', path: '/api/v2/pause', answer: postPause(daemon, access) },
    { method: 'POST', path: '/api/v2/resume', answer: postResume(daemon, access) },
    { method: 'GET', path: '/api/v2/events', answer: getEvents(daemon) },
  ];
}
