import { afterEach } from 'vitest';
import type { CiProvider } from '../../../src/ports/ci.ts';
import type { LogAttributes, Logger } from '../../../src/ports/runtime.ts';
import type { RequestOpener } from '../../../src/ports/scm.ts';
import type { ScmAdapter } from '../../../src/ports/scm.ts';
import { createCi } from '../../../src/providers/github/ci.ts';
import { createRequests } from '../../../src/providers/github/requests.ts';
import { createScm } from '../../../src/providers/github/scm.ts';
import { type FakeGithub, type FakeGithubOptions, startFakeGithub } from '../github.ts';
import type { LogRecord } from './connect.ts';

export interface ConnectedScm {
  readonly fake: FakeGithub;
  readonly scm: ScmAdapter;
  readonly ci: CiProvider;
  readonly opener: RequestOpener;
  readonly warnings: readonly LogRecord[];
}

export const REQUEST = { owner: 'acme', repo: 'widgets', number: 1 };

/** The roles without a remote of their own. */
export function rolesWith(parts: { endpoint: string; apiKey?: string; userAgent?: string }): Omit<ConnectedScm, 'fake'> {
  const warnings: LogRecord[] = [];
  const quiet = (): void => undefined;
  const warn = (message: string, attributes: LogAttributes = {}): void => void warnings.push({ message, attributes });
  const logger: Logger = { debug: quiet, info: quiet, error: quiet, warn };
  const deps = { version: '1.2.3', workflowDir: '/', logger, clock: { now: () => Date.parse('2026-10-21T07:28:00Z') } };
  const connection = {
    kind: 'repoissues',
    name: 'github',
    apiKey: 'fake-token-0123456789',
    project: '',
    userAgent: 'svc/dev',
    ...parts,
  };
  return { scm: createScm(connection, deps), ci: createCi(connection, deps), opener: createRequests(connection, deps), warnings };
}

/** A fake remote with both roles connected to it; all are closed after each test of the file. */
export function scmConnections(): (options?: FakeGithubOptions) => Promise<ConnectedScm> {
  const open: FakeGithub[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((fake) => fake.close()));
  });
  return async (options) => {
    const fake = await startFakeGithub(options);
    open.push(fake);
    return { fake, ...rolesWith({ endpoint: fake.url }) };
  };
}
