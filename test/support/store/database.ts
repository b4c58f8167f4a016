import { NOTHING_KNOWN } from '../../../src/domain/model/watch.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Parked } from '../../../src/domain/model/claim.ts';
import type { IssueRef } from '../../../src/domain/model/issue.ts';
import type { Clock } from '../../../src/ports/runtime.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { StoreOwner } from '../../../src/store/sqlite/instance.ts';

/** What the tests of this folder share: a place for a database, an owner of it and something to put in. */

/** The tracker whose records the tests keep. */
export const TRACKER = 'file /issues.json';

export const CLOCK: Clock = { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) };

export function anOwner(changes: Partial<StoreOwner> = {}): StoreOwner {
  return { id: 'instance-1', pid: process.pid, host: hostname(), workflowPath: '/flows/WORKFLOW.md', ...changes };
}

export function makeFolder(): { path: string; file(name: string): string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'foray-store-'));
  return { path, file: (name) => join(path, name), remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function anIssue(id: string): IssueRef {
  return { id, identifier: `ABC-${id}`, displayIdentifier: null, title: 'Title', url: 'https://tracker.test/1', state: 'todo' };
}

export function aParked(id: string): Parked {
  return { issue: anIssue(id), reason: 'blocked', detail: 'waits for a key', parkedAt: 1, stateAtPark: 'todo' };
}

/** One record of every kind. */
export async function fillStore(store: Store): Promise<void> {
  const issue = anIssue('1');
  const mergeRequest = { owner: 'o', repo: 'r', number: 1, branch: 'b', sha: 's' };
  const claim = { issue, attempt: 1, failures: 1, refusals: 0, sessionId: null, since: 1, dueAt: 2, error: 'e' };
  const tokens = { inputTokens: 0, outputTokens: 0, totalTokens: 0, cacheReadTokens: 0 };
  const ended = { status: 'failed', endedAt: 2, error: 'e', tokens, tokensMeasured: true, costUsd: null } as const;
  const about = { sessionId: '', workspacePath: '/w', model: null, turns: 1 };
  await store.apply(TRACKER, [
    { write: 'claim', claim: { ...claim, phase: 'waiting', then: { kind: 'run', trigger: 'error', reaction: {} } } },
    { write: 'park', parked: aParked('2') },
    { write: 'outbox', entry: { id: 'o1', issue, write: { kind: 'comment', text: 'hello' }, tries: 0, dueAt: 1 } },
    { write: 'workspace', workspace: { path: '/w', issueId: '1', identifier: 'ABC-1', title: 't', lastUsedAt: 1 } },
    { write: 'spent', spent: { issueId: '2', sessions: 1, tokens: 2, costUsd: 0.5 } },
    { write: 'pause', pause: { agentKind: 'mock', until: 1, reason: 'limit' } },
    { write: 'watch', watch: { issue, mergeRequest, armedAt: 1, attempt: 0, facts: NOTHING_KNOWN, reactions: {} } },
    { write: 'run', run: { id: 'r1', issue, attempt: 0, trigger: 'fresh', agentKind: 'mock', startedAt: 1, ...ended, ...about } },
    { write: 'run-events', events: [{ runId: 'r1', at: 1, type: 'message', text: 'hello' }], maxBytes: 1_000_000 },
  ]);
}
