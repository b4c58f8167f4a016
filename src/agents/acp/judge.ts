import { AgentError } from '../../domain/model/errors.ts';
import { complaintError } from './classify.ts';
import type { TurnFacts } from './evidence.ts';

export type Verdict = { readonly ok: true; readonly notice?: string } | { readonly ok: false; readonly error: AgentError };

type StopKind = 'success' | 'cut_short' | 'agent_refused' | 'turn_failed';

/** What each stop reason comes to: https://agentclientprotocol.com/protocol/v1/prompt-turn#stop-reasons */
export const STOP_REASONS: Readonly<Record<string, { readonly kind: StopKind; readonly says: string }>> = {
  end_turn: { kind: 'success', says: 'the agent ended the turn' },
  max_turn_requests: { kind: 'cut_short', says: 'the agent reached its own limit of model requests in one turn' },
  refusal: { kind: 'agent_refused', says: 'the agent refused to go on' },
  max_tokens: { kind: 'turn_failed', says: 'the agent reached the limit of tokens' },
  // Where we cancelled the turn it was never asked for.
  cancelled: { kind: 'turn_failed', says: 'the agent reported the turn as cancelled, although nobody had cancelled it' },
};

/** A turn counts with the agent's word of success and a sign of work, and without a failure that is called success. */
export function judge(stopReason: string, facts: TurnFacts, now: number): Verdict {
  const reason = Object.hasOwn(STOP_REASONS, stopReason) ? STOP_REASONS[stopReason] : undefined;
  if (reason === undefined) return fail('turn_failed', `the agent stopped for an unknown reason: ${stopReason.slice(0, 200)}`);
  const { kind, says } = reason;
  // Some agents end the turn when they are refused, others let the model tell of it. Nothing was done either way.
  if (facts.refused !== null && (stopReason === 'cancelled' || !facts.toolWorked)) return needsPerson(facts.refused);
  if (kind === 'agent_refused' || kind === 'turn_failed') return fail(kind, withText(says, facts.text));
  const failure = facts.failure ?? onlyError(facts);
  if (failure !== null) {
    return { ok: false, error: complaintError({ text: failure }, { what: 'the turn failed', now, otherwise: 'turn_failed' }) };
  }
  if (!facts.worked) return fail('agent_did_nothing', `${says} without a word of the model and without a tool call`);
  return kind === 'cut_short' ? { ok: true, notice: says } : { ok: true };
}

function needsPerson(what: string): Verdict {
  const detail = `permission was denied for ${what.slice(0, 500)} and nothing else was done; change acp.permission or acp.mode`;
  return { ok: false, error: new AgentError({ kind: 'agent_needs_person', detail }) };
}

/** An agent that did nothing but tell an error has not worked, whatever it calls the turn. */
function onlyError({ usedTools, text }: TurnFacts): string | null {
  return !usedTools && /^\s*(?:API )?Error(?::|\b.{0,40}\b[45]\d\d\b)/i.test(text) ? text : null;
}

function withText(says: string, text: string): string {
  const said = text.trim().replaceAll(/\s+/g, ' ');
  return said === '' ? says : `${says}: ${said.slice(-500)}`;
}

function fail(kind: 'agent_refused' | 'turn_failed' | 'agent_did_nothing', detail: string): Verdict {
  return { ok: false, error: new AgentError({ kind, detail }) };
}
