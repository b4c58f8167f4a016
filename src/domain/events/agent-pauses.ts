import { announce, dropPause, putClaim, putPause, type Draft } from '../draft.ts';
import type { AgentPause, Claim, WaitingClaim } from '../model/claim.ts';
import type { State } from '../model/state.ts';

/** How long an agent rests when its provider does not say when the limit lifts. */
const DEFAULT_PAUSE_MS = 15 * 60_000;

/** How long it rests when the moment that was named is over: clocks differ, and the next session would begin at once. */
const PAST_PAUSE_MS = 60_000;

/** No provider names an end that is further away. */
const FARTHEST_MS = 32 * 24 * 3_600_000;

/** When a limit that was just met lifts, by what was said of it. */
export function liftsAt(resetsAt: number | undefined, now: number): number {
  if (resetsAt === undefined) return now + DEFAULT_PAUSE_MS;
  return resetsAt > now ? resetsAt : now + PAST_PAUSE_MS;
}

/** A limit was met. Of two that hold at once the longer one counts; what waits for the shorter one waits as long. */
export function pauseAgent(draft: Draft, pause: AgentPause): AgentPause {
  const before = draft.state.pauses.get(pause.agentKind);
  if (before !== undefined && before.until >= pause.until) return before;
  if (before !== undefined) moveWaiting(draft, before.until, pause.until);
  putPause(draft, pause);
  announce(draft, 'agent:kind:paused', pause);
  return pause;
}

/** The pause that an issue waits for. The claim tells where the settings are not known. */
export function pauseOf({ pauses, settings }: State, claim: Claim | null): AgentPause | null {
  const own = [...pauses.values()].find(({ until }) => claim?.phase === 'waiting' && claim.dueAt === until);
  return own ?? pauses.get(settings.agent.kind) ?? null;
}

/** Ends a pause before its time; everything that waits for it is due. */
export function liftPause(draft: Draft, { agentKind, until }: AgentPause): void {
  dropPause(draft, agentKind);
  moveWaiting(draft, until, draft.now);
}

/** After an edit: what met the limit of an agent that is no longer used has nothing to wait for. */
export function leavePauses(draft: Draft): void {
  const { pauses, settings } = draft.state;
  for (const { agentKind, until } of pauses.values()) {
    if (agentKind !== settings.agent.kind && until > draft.now) moveWaiting(draft, until, draft.now);
  }
}

/**
 * After a start: no pause lasts longer than was left of it when a run last met its limit. The clock may have been wrong
 * when it was written, or may be now.
 */
export function cutPauses(draft: Draft): void {
  const { state, now } = draft;
  for (const pause of state.pauses.values()) {
    const until = now + mostLeft(state, pause, now);
    if (pause.until <= until) continue;
    putPause(draft, { ...pause, until });
    moveWaiting(draft, pause.until, until);
  }
}

/** An end that nobody waits for is believed as long as a provider could have named it. */
function mostLeft({ claims }: State, { until }: AgentPause, now: number): number {
  const delays = [...claims.values()].flatMap((claim) => (waitsUntil(claim, until) ? [until - claim.since] : []));
  if (delays.length > 0) return Math.max(0, Math.min(...delays));
  return until - now > FARTHEST_MS ? DEFAULT_PAUSE_MS : until - now;
}

function waitsUntil(claim: Claim, until: number): claim is WaitingClaim {
  return claim.phase === 'waiting' && claim.then.kind === 'run' && claim.dueAt === until;
}

/** A run that met a limit is due at the moment at which the pause of its agent ends. */
function moveWaiting(draft: Draft, from: number, to: number): void {
  for (const claim of draft.state.claims.values()) {
    if (waitsUntil(claim, from)) putClaim(draft, { ...claim, since: draft.now, dueAt: to });
  }
}
