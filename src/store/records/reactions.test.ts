import { describe, expect, it } from 'vitest';
import type { ReactionKind } from '../../domain/model/reaction.ts';
import { ReactionsSchema } from './reactions.ts';

describe('reactions stored by an earlier version', () => {
  const rest = { used: 1, escalated: false, failures: 0, nextAt: 5, waitingFor: 'x' };

  it.each<[ReactionKind, string, readonly string[], object]>([
    ['ci_failure', 'fixing:abc', [], { at: 'fixing', headSha: 'abc' }],
    ['ci_failure', '', [], { at: 'none' }],
    ['review_comments', '', ['a', 'b'], { at: 'given', comments: ['a', 'b'] }],
    ['bot_review', '', [], { at: 'none' }],
    ['merge_conflicts', 'abc', [], { at: 'resolving', headSha: 'abc' }],
    ['auto_merge', 'merged:abc', [], { at: 'merged', headSha: 'abc' }],
    ['auto_merge', 'ready:abc:APPROVED', [], { at: 'ready', headSha: 'abc', decision: 'APPROVED' }],
    ['auto_merge', 'tidied', [], { at: 'tidied' }],
    ['merge_completion', 'begun', [], { at: 'begun' }],
    ['label_commands', '2026-01-01T00:00:00.000Z|7', [], { at: 'read', upTo: '2026-01-01T00:00:00.000Z|7' }],
  ])('%s with the mark %j goes on where it was', (kind, mark, given, expected) => {
    const read = ReactionsSchema().parse({ [kind]: { ...rest, mark, given } });
    expect(read[kind]).toMatchObject({ ...rest, mark: expected });
  });
});
