import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Mergeability } from '../../ports/scm.ts';
import { isMerged, toMergeStatus, mergeabilityOf } from './scm-map.ts';
import { type WirePull, PULL } from './scm-schema.ts';

function pullWith(parts: object = {}): WirePull {
  return PULL.parse({
    number: 7,
    state: 'open',
    mergeable: true,
    mergeable_state: 'clean',
    head: { ref: 'fix/7', sha: 'abc' },
    base: { ref: 'main' },
    ...parts,
  });
}

describe('mergeability', () => {
  it.each<[string | null, Mergeability]>([
    ['clean', 'clean'],
    ['has_hooks', 'clean'],
    ['dirty', 'dirty'],
    ['unstable', 'unstable'],
    ['blocked', 'blocked'],
    ['behind', 'blocked'],
    ['draft', 'blocked'],
    ['unknown', 'unknown'],
    [null, 'unknown'],
    ['CLEAN', 'clean'],
    ['something_new', 'blocked'],
    ['constructor', 'blocked'],
  ])('%s is %s', (mergeable_state, expected) => {
    expect(mergeabilityOf(pullWith({ mergeable_state }))).toBe(expected);
  });

  it.each(['clean', 'has_hooks', 'unstable', 'dirty', 'blocked'])(
    'is unknown while mergeable is null, whatever %s says',
    (state) => {
      expect(mergeabilityOf(pullWith({ mergeable: null, mergeable_state: state }))).toBe('unknown');
      expect(mergeabilityOf(pullWith({ mergeable: undefined, mergeable_state: state }))).toBe('unknown');
    },
  );

  it.each<[string, Mergeability]>([
    ['clean', 'unknown'],
    ['unstable', 'unknown'],
    ['dirty', 'dirty'],
    ['blocked', 'blocked'],
  ])('that is refused and %s at once is %s', (mergeable_state, expected) => {
    expect(mergeabilityOf(pullWith({ mergeable: false, mergeable_state }))).toBe(expected);
  });

  it('is clean only when the remote says so twice', () => {
    const pulls = fc.record({ mergeable: fc.constantFrom(true, false, null), mergeable_state: fc.string() });
    fc.assert(
      fc.property(pulls, (parts) => {
        const isSaid = parts.mergeable === true && ['clean', 'has_hooks'].includes(parts.mergeable_state.toLowerCase());
        return (mergeabilityOf(pullWith(parts)) === 'clean') === isSaid;
      }),
    );
  });
});

describe('the status of a pull request', () => {
  it('comes from the request itself', () => {
    const parts = { draft: true, labels: [{ name: 'Fix' }, 'NOW'], html_url: 'https://forge.example/acme/widgets/pull/7' };
    expect(toMergeStatus(pullWith(parts), 'unused')).toEqual({
      mergeability: 'clean',
      draft: true,
      merged: false,
      closed: false,
      headSha: 'abc',
      headBranch: 'fix/7',
      baseBranch: 'main',
      fork: false,
      projectId: '',
      mergeCommitSha: '',
      labels: ['fix', 'now'],
      url: 'https://forge.example/acme/widgets/pull/7',
    });
  });

  it.each<[string, object, { merged: boolean; closed: boolean; mergeCommitSha: string }]>([
    ['open', {}, { merged: false, closed: false, mergeCommitSha: '' }],
    ['merged', { state: 'closed', merged: true }, { merged: true, closed: false, mergeCommitSha: 'e1' }],
    ['closed unmerged', { state: 'closed', merged: false }, { merged: false, closed: true, mergeCommitSha: '' }],
    [
      'merged by its time alone',
      { state: 'closed', merged_at: '2026-01-01T00:00:00Z' },
      { merged: true, closed: false, mergeCommitSha: 'e1' },
    ],
  ])('tells %s', (_, parts, expected) => {
    expect(toMergeStatus(pullWith(parts), 'e1')).toMatchObject(expected);
  });

  it('takes null for what is not there', () => {
    const nothing = { draft: null, merged: null, merged_at: null, labels: null, html_url: null, requested_reviewers: null };
    const pull = pullWith(nothing);
    expect(isMerged(pull)).toBe(false);
    expect(toMergeStatus(pull, '')).toMatchObject({ draft: false, labels: [], url: '' });
  });
});
