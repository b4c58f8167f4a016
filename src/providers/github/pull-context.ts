import type { RequestKey } from '../../ports/scm.ts';
import type { Logger } from '../../ports/runtime.ts';
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

/** A poll repeats, its warnings do not. */
export function onceEach(logger: Logger): PullContext['warnOnce'] {
  const reported = new Set<string>();
  return (message, request, fact) => {
    const place = nameOf(request);
    const key = `${message} ${place} ${fact}`;
    if (reported.has(key)) return;
    if (reported.size >= 1000) reported.clear();
    reported.add(key);
    logger.warn(message, { tracker_kind: KIND, pull_request: place, value: fact });
  };
}
