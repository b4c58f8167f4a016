import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { BASE, ci, comment, look, ok, OPEN, progress, startTurn, watching } from '../../../test/support/watched.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import type { Fault } from '../model/fault.ts';
import type { Findings } from '../model/findings.ts';
import type { TurnKind } from '../model/reaction.ts';
import type { ReactionSettings } from '../model/settings.ts';

const LIMITS = { ...BASE, pollIntervalMs: 60_000 };
const REFUSED: Fault = { kind: 'agent_refused', message: 'refused', consequence: 'park' };
const FAILED: Fault = { kind: 'turn_failed', message: 'broke', consequence: 'back-off' };

const kinds: readonly {
  readonly kind: TurnKind;
  readonly on: (budget: number) => ReactionSettings['on'];
  readonly findings: Partial<Findings>;
}[] = [
  {
    kind: 'ci_failure',
    on: (budget) => ({ ci_failure: { ...LIMITS, budget, maxLogLines: 5 } }),
    findings: { ci: ci('failing') },
  },
  {
    kind: 'merge_conflicts',
    on: (budget) => ({ merge_conflicts: { ...LIMITS, budget } }),
    findings: { merge: ok({ ...OPEN, mergeability: 'dirty' }) },
  },
  {
    kind: 'review_comments',
    on: (budget) => ({ review_comments: { ...LIMITS, budget, debounceMs: 0, trust: 'anyone' } }),
    findings: { reviews: ok([comment('a')]) },
  },
  {
    kind: 'bot_review',
    on: (budget) => ({ bot_review: { ...LIMITS, budget, botUsernames: [], trust: 'anyone' } }),
    findings: { botReviews: ok([comment('a')]) },
  },
];

const ways: readonly (readonly [string, (player: Player) => Player])[] = [
  ['a person stops it', (player) => (stop(player), player.exit('1', { kind: 'cancelled' }), player)],
  ['a person stops it, and the service dies', (player) => (stop(player), restarted(player))],
  ['its agent is blocked', (player) => (player.exit('1', { status: { word: 'blocked', statement: 'no access' } }), player)],
  ['its agent refuses', (player) => (player.exit('1', { kind: 'error', fault: REFUSED }), player)],
  ['a person stops it between two tries', (player) => (player.exit('1', { kind: 'error', fault: FAILED }), stop(player), player)],
];

describe.each(kinds)('a turn for $kind that ends parked', ({ kind, on, findings }) => {
  it.each(ways)('since %s is asked for again once the issue is released', (_, parkIt) => {
    const player = parkIt(inTurn(on(2), findings));
    expect(player.state.parked.has('1')).toBe(true);
    expect(progress(player, kind)).toMatchObject({ used: 1, waitingFor: 'the parked issue to be released' });
    look(player, findings, 60_000);
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, kind)).toMatchObject({ used: 1, waitingFor: 'the parked issue to be released' });

    player.operator({ kind: 'unpark', identifier: 'T-1' });
    player.after(0);
    expect(player.asked('inspect')).toHaveLength(1);
    look(player, findings);
    expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: kind } });
    expect(progress(player, kind)).toMatchObject({ used: 2, waitingFor: 'its turn to end' });
  });

  it('has a person asked for where none is left, but not while the issue is parked', () => {
    const player = inTurn(on(1), findings);
    player.exit('1', { status: { word: 'blocked', statement: '' } });
    look(player, findings, 60_000);
    expect(progress(player, kind)).toMatchObject({ escalated: false, waitingFor: 'the parked issue to be released' });
    player.operator({ kind: 'retry', identifier: 'T-1' });
    look(player, findings);
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, kind)).toMatchObject({ escalated: true });
  });
});

it('a fix turn that ends because its issue moved is asked for again when it is back', () => {
  const player = inTurn({ ci_failure: { ...LIMITS, budget: 2, maxLogLines: 5 } }, { ci: ci('failing') });
  player.poll([], { '1': 'paused' });
  player.exit('1', { kind: 'cancelled' });
  expect(progress(player, 'ci_failure')?.waitingFor).not.toBe('its turn to end');
  look(player, { ci: ci('failing'), issueState: ok('paused') }, 60_000);
  expect(player.state.claims.size).toBe(0);
  look(player, { ci: ci('failing') }, 60_000);
  expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: 'ci_failure' } });
});

/** The turn runs. */
function inTurn(on: ReactionSettings['on'], findings: Partial<Findings>): Player {
  const player = watching(on);
  look(player, findings);
  startTurn(player);
  return player;
}

function stop(player: Player): void {
  player.operator({ kind: 'stop', identifier: 'T-1' });
}

function restarted({ state }: Player): Player {
  const watches = [...state.watches.values()];
  return createPlayer(state.settings, { ...NOTHING_DURABLE, claims: [...state.claims.values()], watches });
}
