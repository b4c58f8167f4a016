import { AgentError } from '../../domain/model/errors.ts';
import { needsPerson } from '../shared/failures.ts';
import { openQuestion } from '../shared/open-question.ts';
import { complaintError } from './classify.ts';

export type TurnVerdict = { readonly ok: true; readonly notice?: string } | { readonly ok: false; readonly error: AgentError };

export interface Circumstances {
  readonly now: number;
  /** An earlier turn of the session changed something. */
  readonly changedBefore: boolean;
}

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
export function judge(stopReason: string, facts: TurnFacts, { now, changedBefore }: Circumstances): TurnVerdict {
  const reason = Object.hasOwn(STOP_REASONS, stopReason) ? STOP_REASONS[stopReason] : undefined;
  if (reason === undefined) return fail('turn_failed', `the agent stopped for an unknown reason: ${stopReason.slice(0, 200)}`);
  const { kind, says } = reason;
  // Some agents end the turn when they are refused, others let the model tell of it. Nothing was done either way.
  if (facts.refused !== null && (stopReason === 'cancelled' || !facts.toolWorked)) return denied(facts.refused);
  if (kind === 'agent_refused' || kind === 'turn_failed') return fail(kind, withText(says, facts.text));
  const failure = facts.failure ?? onlyError(facts);
  if (failure !== null) {
    return { ok: false, error: complaintError({ text: failure }, { what: 'the turn failed', now, otherwise: 'turn_failed' }) };
  }
  if (!facts.worked) return fail('agent_did_nothing', `${says} without a word of the model and without a tool call`);
  if (kind === 'cut_short') return { ok: true, notice: says };
  const question = facts.changed || changedBefore ? null : openQuestion(facts.lastText);
  return question === null ? { ok: true } : { ok: false, error: needsPerson(`it changed nothing and asks: ${question}`) };
}

function denied(what: string): TurnVerdict {
  const detail = `permission was denied for ${what.slice(0, 500)} and nothing else was done; change acp.permission or acp.mode`;
  return { ok: false, error: needsPerson(detail) };
}

/** An agent that did nothing but tell an error has not worked, whatever it calls the turn. */
function onlyError({ usedTools, text }: TurnFacts): string | null {
  return !usedTools && /^\s*(?:API )?Error(?::|\b.{0,40}\b[45]\d\d\b)/i.test(text) ? text : null;
}

function withText(says: string, text: string): string {
  const said = text.trim().replaceAll(/\s+/g, ' ');
  return said === '' ? says : `${says}: ${said.slice(-500)}`;
}

function fail(kind: 'agent_refused' | 'turn_failed' | 'agent_did_nothing', detail: string): TurnVerdict {
  return { ok: false, error: new AgentError({ kind, detail }) };
}

/** What one turn came to, by what the agent sent while it ran. */
export interface TurnFacts {
  /** The model wrote something or called a tool. */
  readonly worked: boolean;
  readonly usedTools: boolean;
  /** A tool call ended well. */
  readonly toolWorked: boolean;
  /** The same of one that can change something. */
  readonly changed: boolean;
  /** What the agent asked for first and was refused, or null. */
  readonly refused: string | null;
  /** The beginning of what the model wrote, and its end. */
  readonly text: string;
  readonly lastText: string;
  /** Why the turn failed, although the agent may call it a success. */
  readonly failure: string | null;
}

/** Collects what speaks for and against a turn. */
export interface Evidence {
  wrote(text: string): void;
  usedTool(call: { readonly isDone: boolean; readonly canChange: boolean }): void;
  refused(what: string): void;
  /** What the agent says of the state of the turn. */
  stateIs(state: 'failed' | 'working' | null): void;
  /** The agent gives a reason for a failure. */
  explained(why: string, isFailure: boolean): void;
  /** What came so far was no work of this turn. */
  forget(): void;
  facts(): TurnFacts;
}

const TEXT_LENGTH = 2_000;
const NOTHING: TurnFacts = {
  worked: false,
  usedTools: false,
  toolWorked: false,
  changed: false,
  refused: null,
  text: '',
  lastText: '',
  failure: null,
};

export function createEvidence(): Evidence {
  let facts = NOTHING;
  const change = (changes: Partial<TurnFacts>): void => {
    facts = { ...facts, ...changes };
  };
  return {
    // Work after a failure shows that the agent got over it.
    wrote: (text) =>
      change({
        worked: true,
        text: `${facts.text}${text}`.slice(0, TEXT_LENGTH),
        lastText: `${facts.lastText}${text}`.slice(-TEXT_LENGTH),
        failure: null,
      }),
    usedTool: ({ isDone, canChange }) =>
      change({
        worked: true,
        usedTools: true,
        toolWorked: facts.toolWorked || isDone,
        changed: facts.changed || (isDone && canChange),
        // What is said after a call is another message.
        lastText: '',
        failure: null,
      }),
    refused: (what) => change({ refused: facts.refused ?? what }),
    stateIs(state) {
      if (state === 'failed') change({ failure: 'the agent reported a failure without a reason' });
      if (state === 'working') change({ failure: null });
    },
    explained(why, isFailure) {
      if (isFailure || facts.failure !== null) change({ failure: why });
    },
    forget: () => change(NOTHING),
    facts: () => facts,
  };
}
