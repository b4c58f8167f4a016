import { normalState, stateIn } from '../domain/model/issue.ts';
import type { Problem } from '../domain/model/problem.ts';
import type { AgentSettings, SelfReviewSettings, TokenRates } from '../domain/model/settings.ts';
import type { AgentFacts } from '../ports/agent-kind.ts';
import type { Sections } from './schema.ts';
import type { CheckedFrontMatter } from './check-front-matter.ts';
import { findUser, userProblem } from '../lib/process/user.ts';
import { didYouMean, nearestWord } from '../lib/nearest-word.ts';

/** The agent section as settings. */
export function agentSettings(agent: Sections['agent']): AgentSettings {
  return {
    kind: agent.kind,
    command: agent.command ?? null,
    user: agent.user === undefined ? null : findUser(agent.user),
    maxTurns: agent.max_turns,
    maxConcurrentAgents: agent.max_concurrent_agents,
    maxConcurrentAgentsByState: Object.fromEntries(
      Object.entries(agent.max_concurrent_agents_by_state).map(([state, limit]) => [normalState(state), limit]),
    ),
    turnTimeoutMs: agent.turn_timeout_ms,
    readTimeoutMs: agent.read_timeout_ms,
    stallTimeoutMs: agent.stall_timeout_ms,
    toolTimeoutMs: agent.tool_timeout_ms,
    stopGraceMs: agent.stop_grace_ms,
    maxRetryBackoffMs: agent.max_retry_backoff_ms,
    runOn: agent.run_on ?? null,
    maxAttempts: agent.max_attempts,
    maxSessions: agent.max_sessions,
    instructions: agent.instructions,
    evidence: agent.evidence,
    maxTokens: agent.max_tokens,
    maxCostUsd: agent.max_cost_usd,
    maxRecordedBytes: agent.max_recorded_bytes,
  };
}

/** The checks of the agent section that look at more than one key. */
export function checkAgent(
  read: CheckedFrontMatter,
  agentKinds: readonly AgentFacts[],
  activeStates: readonly string[],
): readonly Problem[] {
  return [
    ...checkKind(read, agentKinds),
    ...checkCommand(read),
    ...checkUser(read),
    ...checkStateLimits(read.sections.agent, activeStates),
    ...checkSelfReview(read),
    ...checkCeilings(read),
  ];
}

export function selfReviewSettings(section: Sections['self_review']): SelfReviewSettings {
  return {
    enabled: section.enabled,
    maxIterations: section.max_iterations,
    verificationCommands: section.verification_commands,
    verificationTimeoutMs: section.verification_timeout_ms,
  };
}

export function tokenRates(section: Sections['token_rates']): Readonly<Record<string, TokenRates>> {
  const rates = Object.entries(section).flatMap(([kind, rate]) => (rate ? [[kind, rate] as const] : []));
  return Object.fromEntries(
    rates.map(([kind, rate]) => [
      kind,
      {
        inputPerMtok: rate.input_per_mtok,
        outputPerMtok: rate.output_per_mtok,
        cacheReadPerMtok: rate.cache_read_per_mtok ?? null,
      },
    ]),
  );
}

function checkKind(read: CheckedFrontMatter, agentKinds: readonly AgentFacts[]): readonly Problem[] {
  if (read.agentKind || read.isFaulty('agent.kind')) return [];
  const known = agentKinds.map(({ kind }) => kind);
  const near = nearestWord(read.sections.agent.kind, known);
  const hint = near === null ? '' : `; did you mean ${near}?`;
  const message = `unknown agent kind ${JSON.stringify(read.sections.agent.kind)}; known kinds: ${known.join(', ')}${hint}`;
  return [{ severity: 'error', check: 'agent.kind', message, key: ['agent', 'kind'] }];
}

function checkCommand(read: CheckedFrontMatter): readonly Problem[] {
  if (!read.agentKind?.requiresCommand || read.sections.agent.command || read.isFaulty('agent.command')) return [];
  const message = `agent.command is required for agent kind ${read.agentKind.kind}`;
  return [{ severity: 'error', check: 'agent.command', message, key: ['agent', 'command'] }];
}

/**
 * A repository that we check out is worked on by both sides: git would then run what the other user configured in it with
 * our rights.
 */
function checkUser(read: CheckedFrontMatter): readonly Problem[] {
  const { user } = read.sections.agent;
  if (user === undefined || read.isFaulty('agent.user')) return [];
  const fault = (message: string): Problem => ({ severity: 'error', check: 'agent.user', message, key: ['agent', 'user'] });
  const problem = userProblem(user);
  if (problem !== null) return [fault(problem)];
  if (read.sections.workspace.repo === undefined) return [];
  return [fault('agent.user cannot be used with workspace.repo: clone in hooks.after_create, which runs as that user')];
}

function checkStateLimits(agent: Sections['agent'], activeStates: readonly string[]): readonly Problem[] {
  const check = 'agent.max_concurrent_agents_by_state';
  const seen = new Set<string>();
  return Object.keys(agent.max_concurrent_agents_by_state).flatMap((state): Problem[] => {
    const key = [...check.split('.'), state];
    const name = normalState(state);
    if (name === '') return [{ severity: 'error', check, message: 'a state name must not be empty', key }];
    if (seen.has(name)) return [{ severity: 'error', check, message: `the state \`${name}\` has two limits`, key }];
    seen.add(name);
    if (activeStates.length === 0 || stateIn(activeStates, state)) return [];
    const message = `${JSON.stringify(state)} is none of the active states, so its limit holds nothing back${didYouMean(state, activeStates)}`;
    return [{ severity: 'warning', check: `${check}.unknown_state`, message, key }];
  });
}

function checkSelfReview(read: CheckedFrontMatter): readonly Problem[] {
  const { enabled, verification_commands } = read.sections.self_review;
  const check = 'self_review.verification_commands';
  if (!enabled || verification_commands.length > 0 || read.isFaulty(check)) return [];
  return [{ severity: 'error', check, message: `${check} is required when self_review.enabled is true`, key: check.split('.') }];
}

/** A ceiling that is only looked at between turns is worth a word: one turn can go far beyond it. */
function checkCeilings(read: CheckedFrontMatter): readonly Problem[] {
  if (read.agentKind?.tellsUsage !== 'after-turn') return [];
  const { max_tokens, max_cost_usd } = read.sections.agent;
  const set = { max_tokens, max_cost_usd };
  return Object.entries(set).flatMap(([name, limit]): Problem[] => {
    if (limit === 0) return [];
    const key = `agent.${name}`;
    const message = `${key} may be exceeded by one turn: agents of kind ${read.agentKind?.kind} tell what they used when a turn has ended; until then it is guessed where they tell the size of their context`;
    return [{ severity: 'warning', check: key, message, key: key.split('.') }];
  });
}
