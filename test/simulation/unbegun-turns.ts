import type { Claim } from '../../src/domain/model/claim.ts';
import type { ReactionKind } from '../../src/domain/model/reaction.ts';

/** Turns of reactions that are queued and have not begun, by issue. */
export interface UnbegunTurns {
  queued(issueId: string, kind: ReactionKind): void;
  /** A turn that began is spent; one whose claim is gone without that was dropped. */
  settle(claims: ReadonlyMap<string, Claim>): void;
}

export function createUnbegunTurns(noteDropped: (issueId: string, kind: ReactionKind) => void): UnbegunTurns {
  const unbegun = new Map<string, ReactionKind>();
  return {
    queued(issueId, kind) {
      const before = unbegun.get(issueId);
      if (before) noteDropped(issueId, before);
      unbegun.set(issueId, kind);
    },
    settle(claims) {
      for (const [id, kind] of unbegun) {
        const claim = claims.get(id);
        if (claim?.phase === 'waiting') continue;
        if (claim === undefined) noteDropped(id, kind);
        unbegun.delete(id);
      }
    },
  };
}
