import { NO_TOKENS, type AgentEvent, type TokenUsage } from '../../domain/model/agent-event.ts';
import { AgentError } from '../../domain/model/errors.ts';
import { faultOf } from '../../domain/model/fault.ts';
import type { Agent, AgentDeps, AgentSession, ProcessLedger, SessionRequest, TurnResult } from '../../ports/agent.ts';
import type { AgentKind } from '../../ports/agent-kind.ts';
import type { Clock } from '../../ports/runtime.ts';
import { facts } from './facts.ts';
import { optionsSchema, OUTCOME_ERRORS, type Options, type Outcome } from './options.ts';

/** The kind whole; what it is stands with its facts. */
export const agentKind: AgentKind = {
  ...facts,
  // Looked at once: to compile the check would take longer than the check.
  create: (_settings, options, deps) => createAgent(optionsSchema().parse(options, { jitless: true }), deps),
};

function createAgent(options: Options, { clock, processes }: Pick<AgentDeps, 'clock' | 'processes'>): Agent {
  const script = createScript(options);
  return {
    kind: 'mock',
    findProblem: () => Promise.resolve(null),
    async startSession(request, signal) {
      signal.throwIfAborted();
      if (options.start_error !== '') throw new AgentError({ kind: 'agent_exited', detail: options.start_error });
      return createSession(`mock-session-${nextNumber(processes)}`, request, options, script, clock);
    },
  };
}

/** Sessions by what they are written down in, which is the same for all agents that a service builds one after the other. */
const SESSIONS = new WeakMap<ProcessLedger, number>();

/** An edit of the settings builds the agent anew while sessions of the one before go on: no two have the same number. */
function nextNumber(processes: ProcessLedger): number {
  const number = (SESSIONS.get(processes) ?? 0) + 1;
  SESSIONS.set(processes, number);
  return number;
}

function createSession(sessionId: string, request: SessionRequest, options: Options, script: Script, clock: Clock): AgentSession {
  const stopped = new AbortController();
  let tokens = NO_TOKENS;
  let requests = 0;
  let isTold = false;
  return {
    sessionId,
    hasTools: false,
    async runTurn(turn, onEvent, signal) {
      const either = AbortSignal.any([signal, stopped.signal]);
      const outcome = script.next(request.issueIdentifier);
      if (!isTold) onEvent({ type: 'session_started', sessionId, ...(options.model === '' ? {} : { model: options.model }) });
      isTold = true;
      const finished = await waitFor(outcome === 'hang' ? null : options.turn_delay_ms, options.stop_delay_ms, either);
      if (!finished) return cancelled();
      tokens = spend(tokens, options);
      requests += 1;
      for (let call = 1; call <= options.tool_calls_per_turn; call += 1) useTool(`mock-${turn.number}-${call}`, onEvent);
      onEvent({ type: 'message', text: `mock turn ${turn.number} on ${request.issueIdentifier}` });
      onEvent(usageEvent(tokens, requests, options));
      return resultOf(outcome, options, clock);
    },
    stop: async () => stopped.abort(),
  };
}

/** A tool call as the real agents tell them. */
function useTool(toolId: string, onEvent: (event: AgentEvent) => void): void {
  onEvent({ type: 'tool_started', toolId, name: 'Bash', input: `echo ${toolId}` });
  onEvent({ type: 'tool_ended', toolId, name: 'Bash', ok: true, output: toolId, durationMs: 1 });
}

interface Script {
  next(identifier: string): Outcome;
}

/** Hands out the scripted outcomes, each once. */
function createScript(options: Options): Script {
  const shared = [...options.outcomes];
  const byIssue = new Map(Object.entries(options.outcomes_by_issue).map(([identifier, list]) => [identifier, [...list]]));
  return { next: (identifier) => byIssue.get(identifier)?.shift() ?? shared.shift() ?? 'completed' };
}

function resultOf(outcome: Outcome, options: Options, clock: Clock): TurnResult {
  if (outcome === 'completed' || outcome === 'hang') return { ok: true };
  const resetsAt = outcome === 'usage_limit' ? { resetsAt: clock.now() + options.usage_limit_resets_in_ms } : {};
  return {
    ok: false,
    fault: faultOf(new AgentError({ kind: OUTCOME_ERRORS[outcome], detail: `scripted outcome ${outcome}`, ...resetsAt })),
  };
}

function cancelled(): TurnResult {
  return { ok: false, fault: faultOf(new AgentError({ kind: 'turn_cancelled', detail: 'the turn was told to stop' })) };
}

function spend(tokens: TokenUsage, options: Options): TokenUsage {
  const inputTokens = tokens.inputTokens + options.input_tokens_per_turn;
  const outputTokens = tokens.outputTokens + options.output_tokens_per_turn;
  const cacheReadTokens = tokens.cacheReadTokens + options.cache_read_tokens_per_turn;
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, cacheReadTokens };
}

function usageEvent(tokens: TokenUsage, requests: number, options: Options): AgentEvent {
  const byModel = options.model === '' ? {} : { requestsByModel: { [options.model]: requests } };
  return { type: 'usage', tokens, requests, ...byModel };
}

/** Waits out the turn (without end for null). False when it was aborted, after the time it takes to give in. */
async function waitFor(ms: number | null, stopDelayMs: number, signal: AbortSignal): Promise<boolean> {
  if (!signal.aborted) await sleep(ms, signal);
  if (!signal.aborted) return true;
  if (stopDelayMs > 0) await sleep(stopDelayMs, null);
  return false;
}

function sleep(ms: number | null, signal: AbortSignal | null): Promise<void> {
  return new Promise((resolve) => {
    const timer = ms === null ? undefined : setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    }
  });
}
