import type { IncomingMessage } from 'node:http';
import type { Daemon } from '../ports/daemon.ts';
import { issueAnswer, stateAnswer } from './api/v1.ts';
import type { JsonAnswer } from './http/envelope.ts';
import { livenessAnswer } from './health.ts';
import type { AppOptions } from './routes.ts';
import { hostCheck } from './access/security.ts';

/** Answers at once; null where the app must. */
export type FastPath = (incoming: IncomingMessage) => JsonAnswer | null;

/** Nothing to decode, nothing to normalise, nothing behind it. */
const PLAIN_PATH = /^\/(?:livez|api\/v1\/([\w-][\w.-]*))$/;

/**
 * What monitoring asks for again and again, without the objects that the framework makes for every request: they cost
 * several times what the answer does. It is for plain requests alone: a GET by a known host, for a path that stands for
 * itself, where nobody is asked for a token. All others go to the app, which gives the same answers.
 */
export function createFastPath(daemon: Daemon, { token = null, allowedHosts = [] }: AppOptions): FastPath {
  const isKnownHost = hostCheck(allowedHosts);
  const liveness = livenessAnswer(daemon);
  const state = stateAnswer(daemon);
  const issue = issueAnswer(daemon);
  return (incoming) => {
    if (token !== null || incoming.method !== 'GET' || !isPlain(incoming, isKnownHost)) return null;
    const [path, name] = PLAIN_PATH.exec(incoming.url ?? '') ?? [];
    // It is asked for by POST.
    if (path === undefined || name === 'refresh') return null;
    if (name === undefined) return liveness();
    return name === 'state' ? state() : issue(name);
  };
}

/** One host, which is known, and no body. */
function isPlain({ rawHeaders, headers }: IncomingMessage, isKnownHost: (host: string) => boolean): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase();
    if (name === 'host') hosts += 1;
    if (name === 'content-length' || name === 'transfer-encoding' || name === 'expect') return false;
  }
  return hosts === 1 && isKnownHost((headers.host ?? '').toLowerCase());
}
