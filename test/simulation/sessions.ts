import type { RunPlan } from '../../src/domain/model/effect.ts';
import type { Event, RunExit } from '../../src/domain/model/event.ts';
import { normalState } from '../../src/domain/model/issue.ts';
import type { Chance } from '../support/random.ts';
import type { Mail } from './mail.ts';

/** The sessions of agents that go on. */
export interface Sessions {
  readonly all: ReadonlyMap<string, RunPlan>;
  start(plan: RunPlan, now: number): void;
  stop(runId: string, now: number): void;
  ended(runId: string): void;
  /** The process died, and they with it. */
  die(): void;
}

export interface SessionsContext {
  readonly mail: Mail;
  readonly isCalm: () => boolean;
  /** Of trackers that were watched before. */
  readonly busyElsewhere: () => number;
  readonly stateOf: (issueId: string) => string;
  /** What the run leaves behind of its merge request. */
  readonly push: (plan: RunPlan) => RunExit['scm'];
  readonly violated: (what: string) => void;
}

export function createSessions(chance: Chance, context: SessionsContext): Sessions {
  const { mail, isCalm, busyElsewhere, stateOf, push, violated } = context;
  const all = new Map<string, RunPlan>();

  function checkSlots({ settings, issue }: RunPlan): void {
    const { maxConcurrentAgents, maxConcurrentAgentsByState } = settings.agent;
    if (all.size + busyElsewhere() >= maxConcurrentAgents) violated(`more than ${maxConcurrentAgents} sessions`);
    const limit = maxConcurrentAgentsByState[normalState(issue.state)];
    const same = [...all.values()].filter((other) => normalState(other.issue.state) === normalState(issue.state)).length;
    if (limit !== undefined && same >= limit) violated(`more than ${limit} sessions of state ${issue.state}`);
  }

  function speak(plan: RunPlan, now: number): void {
    const ids = { issueId: plan.issue.id, runId: plan.runId };
    let at = now;
    const say = (event: Event): void => {
      at += 1 + chance.below(2_000);
      mail.sendAt(at, event, plan.runId);
    };
    say({ type: 'state-seen', ...ids, state: stateOf(plan.issue.id) });
    say({ type: 'run-prepared', ...ids, workspacePath: `/workspaces/${plan.issue.identifier}` });
    say({ type: 'session-started', ...ids, sessionId: `s-${plan.runId}` });
    const turns = 1 + chance.below(3);
    for (let turn = 1; turn <= turns; turn += 1) {
      say({ type: 'turn-started', ...ids, turn });
      const input = turn * 100;
      const tokens = { inputTokens: input, outputTokens: turn, totalTokens: input + turn, cacheReadTokens: 0 };
      say({ type: 'agent-spoke', ...ids, event: { type: 'usage', tokens } });
      if (!isCalm() && chance.happens(0.03)) return; // it hangs: only a timeout ends it
      say({ type: 'turn-completed', ...ids, turn });
    }
    say({ type: 'run-exited', ...ids, exit: { ...exitOf(turns), scm: chance.happens(0.7) ? push(plan) : null } });
  }

  function exitOf(turns: number): RunExit {
    const base = { turns, fault: null, status: null, scm: null };
    if (isCalm() || chance.happens(0.6)) return { kind: 'normal', ...base };
    if (chance.happens(0.2))
      return {
        kind: 'normal',
        ...base,
        status: { word: chance.pick(['blocked', 'no-change-needed', 'needs-human-review']), statement: 'why' },
      };
    const consequence = chance.pick(['back-off', 'back-off', 'back-off-at-cap', 'park', 'pause-agent'] as const);
    return { kind: 'error', ...base, fault: { kind: 'turn_failed', message: 'it failed', consequence } };
  }

  return {
    all,
    start(plan, now) {
      const { id } = plan.issue;
      for (const other of all.values()) if (other.issue.id === id) violated(`two live sessions on issue ${id}`);
      checkSlots(plan);
      all.set(plan.runId, plan);
      speak(plan, now);
    },
    stop(runId, now) {
      const plan = all.get(runId);
      if (!plan) return;
      mail.dropOf(runId);
      const exit: RunExit = { kind: 'cancelled', turns: 0, fault: null, status: null, scm: null };
      mail.send({ type: 'run-exited', issueId: plan.issue.id, runId, exit }, now, 6_000, runId);
    },
    ended: (runId) => void all.delete(runId),
    die: () => all.clear(),
  };
}
