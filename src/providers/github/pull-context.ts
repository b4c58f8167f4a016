import type { RequestKey } from '../../ports/scm.ts';
import type { Logger } from '../../ports/runtime.ts';
import { createIsNew } from '../shared/warn-once.ts';
import type { ReadCommitChecks } from './commit-status.ts';
import type { ReadPullFacts } from './graphql.ts';
import type { PullGraph } from './pull-graph.ts';
import type { PullRoutes } from './scm-routes.ts';
import { KIND } from './settings.ts';

/** What the operations on pull requests share. */
export interface PullContext {
  readonly routes: PullRoutes;
  readonly readFacts: ReadPullFacts;
  readonly graph: PullGraph;
  readonly readChecks: ReadCommitChecks;
  /** Takes the credential out of what the remote says. */
  readonly mask: (text: string) => string;
  readonly warnOnce: (message: string, request: RequestKey, fact: string) => void;
}

export function nameOf({ owner, repo, number }: RequestKey): string {
  return `${owner}/${repo}#${number}`;
}

/** Says the same thing of a request only once. */
export function onceEach(logger: Logger): PullContext['warnOnce'] {
  const isNew = createIsNew();
  return (message, request, fact) => {
    const place = nameOf(request);
    if (!isNew(`${message} ${place} ${fact}`)) return;
    logger.warn(message, { tracker_kind: KIND, pull_request: place, value: fact });
  };
}
