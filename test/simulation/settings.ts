import type { ReactionSettings, Settings } from '../../src/domain/model/settings.ts';
import type { Chance } from '../support/random.ts';
import { settingsWith } from '../support/settings.ts';
import { APPROVED, type Place } from './board.ts';
import { REACTION_BUDGET } from './world.ts';

/** What a workflow file may say of a tracker, at random. */
export function randomSettings(chance: Chance, place: Place): Settings {
  return settingsWith({
    agent: {
      maxConcurrentAgents: 1 + chance.below(4),
      maxConcurrentAgentsByState: chance.happens(0.5) ? { todo: 1 + chance.below(2) } : {},
      maxAttempts: chance.pick([0, 0, 2, 4]),
      maxSessions: chance.pick([0, 0, 6]),
      maxTokens: chance.pick([0, 0, 2_000]),
      stallTimeoutMs: 60_000,
    },
    rest: chance.happens(0.6) ? { reactions: reactionsOf(place, chance) } : {},
    tracker: { identity: place.identity, handoffState: 'review', ...trust(chance) },
  });
}

/** Another edit of the same file. Slots, budgets and reactions stay on or off, which others watch over. */
export function edited(chance: Chance, place: Place, { tracker, agent, reactions, ...rest }: Settings): Settings {
  return {
    ...rest,
    reactions: reactions.provider === null ? reactions : reactionsOf(place, chance),
    agent: { ...agent, maxTurns: 1 + chance.below(5), maxAttempts: chance.pick([0, 0, 2, 4]) },
    tracker: { ...tracker, identity: place.identity, ...trust(chance) },
  };
}

function trust(chance: Chance): Pick<Settings['tracker'], 'authors' | 'approvalLabel' | 'comments'> {
  return {
    authors: chance.happens(0.3) ? 'collaborators' : 'anyone',
    approvalLabel: chance.happens(0.3) ? APPROVED : null,
    comments: { onDispatch: chance.happens(0.3), onCompletion: chance.happens(0.3), onFailure: true },
  };
}

/** Every reaction on, with budgets small enough to run out. */
function reactionsOf({ owner, repo }: Place, chance: Chance): ReactionSettings {
  const base = {
    pollIntervalMs: 20_000,
    watchWindowMs: 0,
    budget: REACTION_BUDGET,
    escalation: 'label',
    escalationLabel: 'needs-human',
  } as const;
  const heard = chance.pick(['anyone', 'collaborators'] as const);
  return {
    provider: 'nsproject',
    connection: null,
    projects: [`${owner}/${repo}`],
    votes: heard,
    on: {
      ci_failure: { ...base, maxLogLines: 50 },
      review_comments: { ...base, debounceMs: 5_000, trust: heard },
      bot_review: { ...base, botUsernames: [], trust: heard },
      merge_conflicts: base,
      auto_merge: { ...base, strategy: 'squash', requireCi: true, deleteBranch: true, dryRun: false, ciGraceMs: 0 },
      merge_completion: { ...base, targetState: 'done' },
      label_commands: { ...base, reviewLabel: 'foray:review', fixLabel: 'foray:fix' },
    },
  };
}
