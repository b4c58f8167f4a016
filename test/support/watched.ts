import { expect } from 'vitest';
import { createPlayer, type Player } from './core.ts';
import { issueWith } from './issues.ts';
import { settingsWith } from './settings.ts';
import type { Effect } from '../../src/domain/model/effect.ts';
import type { Fault } from '../../src/domain/model/fault.ts';
import type { MergeStatus, ReviewComment } from '../../src/domain/model/merge-request.ts';
import type { ReactionSettings } from '../../src/domain/model/settings.ts';
import type { ReactionKind } from '../../src/domain/model/reaction.ts';
import type { Findings } from '../../src/domain/model/findings.ts';

export const BASE = {
  pollIntervalMs: 10_000,
  watchWindowMs: 0,
  budget: 1,
  escalation: 'label',
  escalationLabel: 'needs-human',
} as const;
export const SCM = { branch: 'b', sha: 'sha1', pushedAt: '', prNumber: 7, owner: 'o', repo: 'r' };
export const OPEN: MergeStatus = {
  fork: false,
  projectId: '',
  mergeability: 'clean',
  draft: false,
  merged: false,
  closed: false,
  headSha: 'sha1',
  headBranch: 'b',
  baseBranch: 'main',
  mergeCommitSha: '',
  labels: [],
  url: 'https://forge/7',
};
export const FAULT: Fault = { kind: 'tracker_transport_error', message: 'no answer', consequence: 'back-off' };
export const ok = <T>(value: T) => ({ ok: true, value }) as const;

/** A player whose issue was handed off and whose merge request is watched by the given reactions. */
export function watching(on: ReactionSettings['on'], runMs = 0): Player {
  const player = createPlayer(
    settingsWith({ rest: { reactions: { provider: 'nsproject', connection: null, projects: ['o/r'], votes: 'anyone', on } } }),
  );
  player.poll([issueWith({ id: '1' })]);
  player.now += runMs;
  player.exit('1', { scm: SCM });
  player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome: { kind: 'succeeded' } });
  player.after(0);
  return player;
}

/** Answers the look that is under way (or the next one that falls due). */
export function look(player: Player, findings: Partial<Findings>, waitMs = 10_000): void {
  for (let wait = 0; wait < 5 && player.asked('inspect').length === 0; wait += 1) player.after(waitMs);
  const [effect] = player.asked('inspect');
  expect(effect, 'a look').toBeDefined();
  if (effect) answerLook(player, effect, findings);
}

export function answerLook(
  player: Player,
  { watch, due }: Extract<Effect, { do: 'inspect' }>,
  findings: Partial<Findings>,
): void {
  const merge = findings.merge ?? ok(OPEN);
  const all: Findings = { issueState: ok('review'), ...findings, merge };
  const { mergeRequest, armedAt, facts } = watch;
  player.send({ type: 'inspected', issueId: '1', number: mergeRequest.number, armedAt, runs: facts.runs, due, findings: all });
}

export function progress(player: Player, kind: ReactionKind) {
  return player.state.watches.get('1')?.reactions[kind];
}

/** Lets the queued turn begin. */
export function startTurn(player: Player): void {
  player.after(1_000);
  player.send({ type: 'issue-read', issueId: '1', issue: ok(issueWith({ id: '1', state: 'review' })) });
  expect(player.state.live.has('1')).toBe(true);
}

/** Lets the queued turn run and end; it may have pushed a new head. */
export function finishTurn(player: Player, sha = 'sha1'): void {
  if (!player.state.live.has('1')) startTurn(player);
  player.exit('1', { scm: { ...SCM, sha } });
  player.after(0);
}

export const ci = (status: 'success' | 'failing' | 'pending', ref = 'sha1') =>
  ok({ status, checkRuns: [], failingCount: status === 'failing' ? 1 : 0, logExcerpt: 'log', ref });
export const comment = (id: string, parts: Partial<ReviewComment> = {}): ReviewComment => ({
  id,
  file: 'a.ts',
  startLine: 1,
  endLine: 1,
  reviewer: 'eve',
  body: 'change',
  outdated: false,
  submittedAt: '1970-01-01T00:00:00Z',
  ...parts,
});
