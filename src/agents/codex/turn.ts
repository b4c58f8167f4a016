import type { AgentEvent } from '../../domain/model/agent-event.ts';
import { createCallBook } from './calls.ts';
import { fullText } from './classify.ts';
import { isPlain, textOf, toolOf } from './items.ts';
import type { Evidence } from './judge.ts';
import type { Item, Note, TurnEnd } from './parse.ts';

/** One turn of ours as it goes by. */
export interface TurnWatch {
  /** The answer to `turn/start` named the turn. */
  named(turnId: string): void;
  /** Null until Codex named it. */
  turnId(): string | null;
  see(note: Note): void;
  /** A report on this turn added to the figures: a model request ended. */
  requestEnded(): void;
  /** A line was lost that may have told anything, even the end of the turn. */
  lineLost(head: string): void;
  evidence(): Evidence;
  readonly ended: Promise<TurnEnd>;
  close(): void;
}

/** Follows the turn that is started next in the thread. Other threads and other turns are none of its business. */
export function watchTurn(threadId: string, emit: (event: AgentEvent) => void): TurnWatch {
  const calls = createCallBook(emit);
  const found: Pick<Mutable<Evidence>, 'wrote' | 'requests' | 'otherSigns' | 'error'> = {
    wrote: false,
    requests: 0,
    otherSigns: false,
    error: null,
  };
  let ownId: string | null = null;
  let end = (_end: TurnEnd): void => {};
  const ended = new Promise<TurnEnd>((resolve) => (end = resolve));

  function seeItem(item: Item, isEnd: boolean): void {
    const tool = toolOf(item);
    if (tool !== null) calls.see(item, tool, isEnd);
    else if (!isPlain(item)) found.otherSigns = true;
    const text = textOf(item);
    if (text.trim() === '') return;
    found.wrote = true;
    if (isEnd) emit({ type: 'message', text });
  }

  function see(note: Note): void {
    if (!('turnId' in note) || note.threadId !== threadId) return;
    if (note.type === 'turn-started') ownId ??= note.turnId;
    if (note.turnId !== ownId) return;
    if (note.type === 'item-started' || note.type === 'item-ended') seeItem(note.item, note.type === 'item-ended');
    if (note.type === 'text') found.wrote = true;
    if (note.type === 'plan') found.otherSigns = true;
    if (note.type === 'error' && !note.willRetry) found.error = note.error;
    if (note.type === 'error') emit({ type: 'notice', text: `codex: ${fullText(note.error)}` });
    if (note.type === 'turn-ended') end(note.end);
  }

  return {
    named: (turnId) => void (ownId = turnId),
    turnId: () => ownId,
    see,
    requestEnded: () => void (found.requests += 1),
    lineLost(head) {
      found.otherSigns = true;
      if (ownId !== null && head.includes('"turn/completed"') && head.includes(ownId)) end({ status: 'unreadable' });
    },
    evidence: () => ({ ...found, ...calls.sums() }),
    ended,
    close: () => calls.close(),
  };
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
