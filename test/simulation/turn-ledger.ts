import type { ReactionKind } from '../../src/domain/model/reaction.ts';

/** Turns that reactions queued for the merge request of each issue, held against what their budgets allow. */
export interface TurnLedger {
  queued(issueId: string, kind: ReactionKind): void;
  /** One of them was dropped before it began. */
  dropped(issueId: string, kind: ReactionKind): void;
  /** The head changed. Only a push by somebody else gives CI a new budget. */
  pushed(issueId: string, by: 'us' | 'others'): void;
  /** The request was seen to be mergeable: a conflict may begin anew. */
  seenClean(issueId: string): void;
  /** Nobody watches the request any more, or an operator gave the budgets back. */
  forget(issueId: string): void;
  /** Those that something is known of. */
  issues(): Iterable<string>;
}

interface Account {
  /** Queued since what gives the kind a new budget. */
  readonly turns: Map<ReactionKind, number>;
  /** Commands by label, each of which may give the other kinds their budgets back. */
  commands: number;
  cleanLooks: number;
}

export function createTurnLedger(budget: number, violated: (what: string) => void): TurnLedger {
  const accounts = new Map<string, Account>();
  const accountOf = (issueId: string): Account => {
    const known = accounts.get(issueId) ?? { turns: new Map(), commands: 0, cleanLooks: 0 };
    accounts.set(issueId, known);
    return known;
  };
  return {
    queued(issueId, kind) {
      const account = accountOf(issueId);
      const turns = (account.turns.get(kind) ?? 0) + 1;
      account.turns.set(kind, turns);
      if (kind === 'label_commands') account.commands += 1;
      const allowed = budget * renewals(kind, account);
      if (turns > allowed) violated(`${kind} had ${turns} turns for the request of issue ${issueId}, and ${allowed} are allowed`);
    },
    dropped(issueId, kind) {
      const { turns } = accountOf(issueId);
      turns.set(kind, Math.max(0, (turns.get(kind) ?? 0) - 1));
    },
    pushed(issueId, by) {
      const account = accounts.get(issueId);
      account?.turns.delete('label_commands');
      if (by === 'others') account?.turns.delete('ci_failure');
    },
    seenClean(issueId) {
      accountOf(issueId).cleanLooks += 1;
    },
    forget: (issueId) => void accounts.delete(issueId),
    issues: () => accounts.keys(),
  };
}

/** How often a kind may have had its budget. */
function renewals(kind: ReactionKind, { commands, cleanLooks }: Account): number {
  if (kind === 'label_commands') return 1;
  return 1 + commands + (kind === 'merge_conflicts' ? cleanLooks : 0);
}
