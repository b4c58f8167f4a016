import { JsonRpcError, type JsonRpcPeerOptions } from '../../lib/json-rpc/index.ts';
import { copyOf } from '../../lib/short-text.ts';
import { answerTo, type ApprovalContext } from './approvals.ts';
import type { EventStream } from '../shared/event-stream.ts';
import { createAccountLimits, type AccountLimits } from './classify.ts';
import { readNote, type CodexNote } from './parse.ts';
import type { TurnWatch } from './turn-watch.ts';
import { createUsage, type Usage } from './usage.ts';

/** Where everything ends up that Codex says and asks by itself, in a turn or between two. */
export interface Listener extends Pick<JsonRpcPeerOptions, 'onRequest' | 'onNotification' | 'onUnreadable'> {
  readonly usage: Usage;
  readonly limits: AccountLimits;
  /** Resolves with the first question that only a person can answer. */
  readonly asked: Promise<string>;
  /** That question, or null. */
  question(): string | null;
  /** Until `endTurn` the turn hears what concerns it, and first what was said while there was none. */
  beginTurn(turn: ListeningTurn): void;
  endTurn(): void;
  /** A line for the operator, at once or with the next turn. */
  note(text: string): void;
}

export interface ListeningTurn {
  readonly watch: TurnWatch;
  readonly events: EventStream;
}

const MAX_HELD = 20;
const HEAD_LENGTH = 500;

export function createListener(context: ApprovalContext): Listener {
  const [usage, limits] = [createUsage(), createAccountLimits()];
  let turn: ListeningTurn | null = null;
  const held = createHeldNotes();
  const answerer = createAnswerer(context, note);

  function note(text: string): void {
    if (turn === null) held.add(text);
    else turn.events.notice(text);
  }

  function hear(said: CodexNote): void {
    switch (said.type) {
      case 'turn-started':
        return usage.turnStarted(said.turnId);
      case 'usage':
        return hearUsage(usage, turn, said);
      case 'limits':
        return limits.add(said.limits);
      case 'model':
        usage.modelIs(said.model);
        return turn?.events.sessionStarted(said.threadId, said.model);
      case 'warning':
        return note(said.text);
      default:
    }
  }

  return {
    usage,
    limits,
    ...answerer,
    note,
    beginTurn(next) {
      turn = next;
      for (const text of held.takeAll()) note(text);
    },
    endTurn: () => void (turn = null),
    onNotification(method, params) {
      const said = readNote(method, params);
      if (said) hear(said);
      if (said) turn?.watch.see(said);
      turn?.events.alive();
    },
    onUnreadable(line, why) {
      turn?.watch.lineLost(line.slice(0, HEAD_LENGTH));
      note(`codex printed a line that is ${why}: ${line.slice(0, HEAD_LENGTH)}`);
    },
  };
}

/** Adds a report to the figures, and tells the turn what they have become. */
function hearUsage(usage: Usage, turn: ListeningTurn | null, said: Extract<CodexNote, { type: 'usage' }>): void {
  if (!usage.add(said.threadId, said.turnId, said.usage) || turn === null) return;
  if (said.turnId === turn.watch.turnId()) turn.watch.requestEnded();
  const event = usage.event();
  if (event) turn.events.usage(event);
}

/** What was said between two turns, for the next one to tell. */
function createHeldNotes() {
  let held: string[] = [];
  return {
    add(text: string): void {
      if (held.length < MAX_HELD) held.push(copyOf(text.slice(0, 2 * HEAD_LENGTH)));
    },
    takeAll(): readonly string[] {
      const all = held;
      held = [];
      return all;
    },
  };
}

/** Answers what Codex asks, and keeps the first question that cannot be answered. */
function createAnswerer(
  context: ApprovalContext,
  note: (text: string) => void,
): Pick<Listener, 'onRequest' | 'asked' | 'question'> {
  let question: string | null = null;
  let tellAsked = (_question: string): void => {};
  const asked = new Promise<string>((resolve) => (tellAsked = resolve));
  return {
    asked,
    question: () => question,
    onRequest(method, params) {
      const answer = answerTo(method, params, context);
      if (answer.notice !== '') note(answer.notice);
      if (answer.question !== undefined && question === null) tellAsked((question = answer.question));
      if (answer.reply instanceof JsonRpcError) throw answer.reply;
      return answer.reply;
    },
  };
}
