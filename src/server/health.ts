import type { Context } from 'hono';
import type { Daemon, Readiness } from '../ports/daemon.ts';
import { readSnapshot } from './snapshot.ts';
import { isoTime, sendJson, type JsonAnswer } from './http/envelope.ts';

/** A probe has an answer after this long, whatever hangs. */
const READINESS_TIMEOUT_MS = 5_000;

const NOTHING_READY: Readiness = { database: false, preflight: false, workflow: false };

export function getLiveness(daemon: Daemon) {
  const answer = livenessAnswer(daemon);
  return (c: Context): Response => sendJson(c, answer());
}

export function livenessAnswer(daemon: Daemon): () => JsonAnswer {
  return () => (daemon.isDraining() ? NOT_ALIVE : ALIVE);
}

const ALIVE: JsonAnswer = { status: 200, body: '{"status":"pass"}' };
const NOT_ALIVE: JsonAnswer = { status: 503, body: '{"status":"fail"}' };

export function getReadiness(daemon: Daemon) {
  const bornAt = daemon.clock.now();
  return async (c: Context): Promise<Response> => {
    const { database, preflight, workflow } = await check(daemon, c.req.raw.signal);
    const ready = database && preflight && workflow && !daemon.isDraining();
    const snapshot = readSnapshot(daemon);
    const startedAt = snapshot?.startedAt ?? bornAt;
    const postponed = snapshot?.postponedPoll;
    const { rejected } = daemon.workflow();
    const body = {
      status: verdict(ready),
      version: daemon.version,
      uptime_seconds: Math.max(0, daemon.clock.now() - startedAt) / 1000,
      checks: { database: verdict(database), preflight: verdict(preflight), workflow: verdict(workflow) },
      // The last good file is in force, so the check still passes.
      ...(rejected && { workflow_error: rejected.reason }),
      ...leadershipFacts(daemon),
      // Nothing is broken: the next poll is put off, and says until when.
      ...(postponed && { poll_postponed: { reason: postponed.reason, until: isoTime(postponed.until) } }),
    };
    return c.json(body, ready ? 200 : 503);
  };
}

/** Who leads, where several daemons share a database. */
function leadershipFacts(daemon: Daemon) {
  const view = daemon.leader?.();
  if (view === undefined) return {};
  const { role, leader } = view;
  return { role, leader: leader && { ...leader, since: isoTime(leader.since) } };
}

/** Checks that throw or hang are checks that fail. */
async function check(daemon: Daemon, gone: AbortSignal): Promise<Readiness> {
  const over = new AbortController();
  const signal = AbortSignal.any([gone, over.signal]);
  const late = setTimeout(() => over.abort(new Error(`no answer within ${READINESS_TIMEOUT_MS} ms`)), READINESS_TIMEOUT_MS);
  try {
    return await Promise.race([daemon.checkReadiness(), rejectWhen(signal)]);
  } catch (error) {
    daemon.logger.warn('readiness check failed', { error: String(error) });
    return NOTHING_READY;
  } finally {
    clearTimeout(late);
  }
}

function rejectWhen(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () =>
      reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason))),
    );
  });
}

function verdict(passed: boolean): 'pass' | 'fail' {
  return passed ? 'pass' : 'fail';
}
