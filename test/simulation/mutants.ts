import { decide } from '../../src/domain/decide.ts';
import { NO_MARK } from '../../src/domain/model/reaction.ts';
import type { Decide } from './simulate.ts';

/** Copies of the core with one rule broken each: the simulation must notice every one. */
export const MUTANTS: Readonly<Record<string, Decide>> = {
  'slots are ignored': (state, event, now) => {
    const wide = { ...state, settings: { ...state.settings, agent: { ...state.settings.agent, maxConcurrentAgents: 999 } } };
    const decision = decide(event.type === 'poll-answered' ? wide : state, event, now);
    return { ...decision, state: { ...decision.state, settings: state.settings } };
  },
  'a release is not stored': (state, event, now) => {
    const decision = decide(state, event, now);
    return { ...decision, writes: decision.writes.filter((write) => write.write !== 'release') };
  },
  'a retry starts over at attempt 0': (state, event, now) => {
    const decision = decide(state, event, now);
    const claims = new Map(
      [...decision.state.claims].map(([id, claim]) => [id, claim.phase === 'waiting' ? { ...claim, attempt: 0 } : claim]),
    );
    const writes = decision.writes.map((write) =>
      write.write === 'claim' ? { ...write, claim: claims.get(write.claim.issue.id) ?? write.claim } : write,
    );
    return { ...decision, writes, state: { ...decision.state, claims } };
  },
  'a due retry is forgotten': (state, event, now) => {
    const decision = decide(state, event, now);
    return { ...decision, effects: decision.effects.filter((effect) => effect.do !== 'read-issue') };
  },
  'an issue that was closed is tried again': (state, event, now) => {
    if (event.type !== 'issue-read' || !event.issue.ok || event.issue.value === null) return decide(state, event, now);
    const { isClosed: _isClosed, ...value } = event.issue.value;
    return decide(state, { ...event, issue: { ok: true, value } }, now);
  },
  'an unknown mergeability counts as clean': (state, event, now) => {
    if (event.type !== 'inspected' || !event.findings.merge.ok || event.findings.merge.value === null)
      return decide(state, event, now);
    const merge = { ok: true, value: { ...event.findings.merge.value, mergeability: 'clean' } } as const;
    return decide(state, { ...event, findings: { ...event.findings, merge } }, now);
  },
  'given comments are forgotten': (state, event, now) => {
    const watches = new Map(
      [...state.watches].map(([id, watch]) => {
        const progress = watch.reactions.review_comments;
        return [
          id,
          progress ? { ...watch, reactions: { ...watch.reactions, review_comments: { ...progress, mark: NO_MARK } } } : watch,
        ];
      }),
    );
    return event.type === 'inspected' ? decide({ ...state, watches }, event, now) : decide(state, event, now);
  },
  'the budget of a reaction is not counted': (state, event, now) => {
    if (event.type !== 'inspected') return decide(state, event, now);
    const { reactions } = state.settings;
    const { ci_failure: ciFailure } = reactions.on;
    if (!ciFailure) return decide(state, event, now);
    const generous = { ...reactions, on: { ...reactions.on, ci_failure: { ...ciFailure, budget: 99 } } };
    const decision = decide({ ...state, settings: { ...state.settings, reactions: generous } }, event, now);
    return { ...decision, state: { ...decision.state, settings: state.settings } };
  },
  'an approval is taken for one of any later text': (state, event, now) => {
    const forgetful = event.type === 'issue-read' || event.type === 'candidate-read';
    const decision = decide(forgetful ? { ...state, approvals: new Map() } : state, event, now);
    return { ...decision, state: { ...decision.state, approvals: forgetful ? state.approvals : decision.state.approvals } };
  },
  'a run is handed off with the newest settings': (state, event, now) =>
    decide(event.type === 'run-exited' ? { ...state, runSettings: new Map() } : state, event, now),
  'a tracker that was left goes on as before': (state, event, now) => {
    const decision = decide({ ...state, lifecycle: state.lifecycle === 'leaving' ? 'serving' : state.lifecycle }, event, now);
    return { ...decision, state: { ...decision.state, lifecycle: event.type === 'tracker-left' ? 'leaving' : state.lifecycle } };
  },
  'a handoff goes to the tracker that is watched now': (state, event, now) => {
    const decision = decide(state, event, now);
    const effects = decision.effects.map((effect) =>
      effect.do === 'hand-off' && state.lifecycle === 'leaving'
        ? { ...effect, settings: { ...effect.settings, tracker: { ...effect.settings.tracker, identity: 'another' } } }
        : effect,
    );
    return { ...decision, effects };
  },
  'a request from a fork is taken for our own': (state, event, now) => {
    if (event.type !== 'inspected' || !event.findings.merge.ok || event.findings.merge.value === null)
      return decide(state, event, now);
    const merge = { ok: true, value: { ...event.findings.merge.value, fork: false } } as const;
    return decide(state, { ...event, findings: { ...event.findings, merge } }, now);
  },
  'the branch that an agent names is believed': (state, event, now) => {
    const branch = event.type === 'inspected' ? state.watches.get(event.issueId)?.mergeRequest.branch : undefined;
    if (event.type !== 'inspected' || branch === undefined || !event.findings.merge.ok || event.findings.merge.value === null)
      return decide(state, event, now);
    const merge = { ok: true, value: { ...event.findings.merge.value, headBranch: branch } } as const;
    return decide(state, { ...event, findings: { ...event.findings, merge } }, now);
  },
  'every project is ours': (state, event, now) => {
    const projects = ['o/r', 'p/s'];
    const wide = { ...state, settings: { ...state.settings, reactions: { ...state.settings.reactions, projects } } };
    const decision = decide(wide, event, now);
    const { settings } = event.type === 'settings-changed' ? event : state;
    const runSettings = new Map([...decision.state.runSettings].map(([id, own]) => [id, own === wide.settings ? settings : own]));
    const effects = decision.effects.map((effect) =>
      effect.do === 'start-run' ? { ...effect, plan: { ...effect.plan, settings } } : effect,
    );
    return { ...decision, effects, state: { ...decision.state, settings, runSettings } };
  },
  'whoever pushes wins a budget for CI': (state, event, now) => {
    if (event.type !== 'inspected') return decide(state, event, now);
    const watches = new Map(
      [...state.watches].map(([id, watch]) => {
        const { head, runs } = watch.facts;
        return [id, { ...watch, facts: { ...watch.facts, head: head && { ...head, runs } } }];
      }),
    );
    return decide({ ...state, watches }, event, now);
  },
  'a look under older settings is acted upon': (state, event, now) => decide({ ...state, outdated: {} }, event, now),
  'a queued turn begins under settings that it was not judged under': (state, event, now) => {
    const judgedUnder = new Map([...state.claims.keys()].map((id) => [id, state.settings]));
    return decide({ ...state, judgedUnder }, event, now);
  },
  'a pause is not told to the tracker that was left': (state, event, now) =>
    event.type === 'service-paused' ? { state, writes: [], effects: [] } : decide(state, event, now),
  'sessions of the tracker that was left take no slots': (state, event, now) => decide({ ...state, elsewhere: 0 }, event, now),
  'a late exit ends a newer run': (state, event, now) => {
    if (event.type !== 'run-prepared') return decide(state, event, now);
    const exit = { kind: 'normal', turns: 1, fault: null, status: null, scm: null } as const;
    return decide(state, { type: 'run-exited', issueId: event.issueId, runId: event.runId, exit }, now);
  },
};
