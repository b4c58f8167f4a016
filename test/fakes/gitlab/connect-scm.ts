import type { ScmConnection } from '../../../src/domain/model/settings.ts';
import type { CiProvider } from '../../../src/ports/ci.ts';
import type { ScmAdapter } from '../../../src/ports/scm.ts';
import { provider } from '../../../src/providers/gitlab/index.ts';
import type { LogRecord } from '../adapter-deps.ts';
import { depsWith as depsAt } from '../adapter-deps.ts';
import { NOW } from './connect.ts';

/** The merge-request and CI roles under test, with everything they logged. */
export interface ScmSubject {
  readonly scm: ScmAdapter;
  readonly ci: CiProvider;
  readonly records: readonly LogRecord[];
  warnings(): readonly LogRecord[];
}

/** The merge request that most tests are about. */
export const REQUEST = { owner: 'acme/tools', repo: 'rocket', number: 1 };

export function openScmSubject(
  remote: { url: string; token: string },
  over: Partial<ScmConnection> = {},
  now: () => number = () => NOW,
): ScmSubject {
  const connection = scmConnection({ endpoint: remote.url, apiKey: remote.token, ...over });
  const { deps, records } = depsAt(now, '9.9.9');
  const scm = provider.createScm?.(connection, deps);
  const ci = provider.createCi?.(connection, deps);
  if (!scm || !ci) throw new Error('the kind has no merge-request or no CI side');
  return { scm, ci, records, warnings: () => records.filter(({ level }) => level === 'warn') };
}

export function scmConnection(over: Partial<ScmConnection> = {}): ScmConnection {
  return {
    kind: 'nsproject',
    name: 'gitlab',
    apiKey: 'glpat-fake-0123456789',
    endpoint: 'https://gitlab.example.com',
    project: '',
    userAgent: 'svc/dev',
    ...over,
  };
}
