import { ScmConflictError } from '../../../src/domain/model/errors.ts';
import type { ScmConnection } from '../../../src/domain/model/settings.ts';
import type { LogLevel } from '../../../src/ports/runtime.ts';
import type { RequestKey } from '../../../src/ports/scm.ts';
import { createCi } from '../../../src/providers/gitea/ci.ts';
import { createScm } from '../../../src/providers/gitea/scm.ts';
import type { FakeGitea } from '../gitea.ts';
import { depsWith } from './connect.ts';

/** A connection as a small workflow file would give it: no project, since each call names its repository. */
export function connectionFor(remote: { url: string; token: string }, changes: Partial<ScmConnection> = {}): ScmConnection {
  return {
    kind: 'selfhosted',
    name: 'gitea',
    apiKey: remote.token,
    endpoint: remote.url,
    project: '',
    userAgent: 'svc/dev',
    ...changes,
  };
}

/** Both roles of the merge-request side at work on the fake, with what they log. */
export function openScm(fake: FakeGitea, changes: Partial<ScmConnection> = {}) {
  const { deps, records } = depsWith();
  const connection = connectionFor(fake, changes);
  return {
    scm: createScm(connection, deps),
    ci: createCi(connection, deps),
    logged: (level: LogLevel) => records.filter((record) => record.level === level),
  };
}

export function requestFor(number: number): RequestKey {
  return { owner: 'acme', repo: 'app', number };
}

/** The conflict that a merge fails with; anything else is a fault of the test. */
export async function conflictOf(call: Promise<unknown>): Promise<ScmConflictError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ScmConflictError) return error;
    throw error;
  }
  throw new Error('expected an ScmConflictError, but the call succeeded');
}
