import { isBlank } from '../shared/blank.ts';
import type { EventStream } from '../shared/event-stream.ts';
import { keyOf } from '../shared/remembered.ts';
import { fullText } from './classify.ts';
import type { Evidence } from './judge.ts';
import {
  inputOf,
  isCommand,
  isPlain,
  neverRan,
  onlyLooks,
  outputOf,
  succeeded,
  itemText,
  toolOf,
  type Item,
  type CodexNote,
  type TurnEnd,
} from './parse.ts';

/** One turn of ours as it goes by. */
export interface TurnWatch {
  /** The answer to `turn/start` named the turn. */
  named(turnId: string): void;
  /** Null until Codex named it. */
  turnId(): string | null;
  see(note: CodexNote): void;
  /** A report on this turn added to the figures: a model request ended. */
  requestEnded(): void;
  /** Resolves when the figures of all that the model did were told, which may be never. */
  figures(): Promise<void>;
  /** A line was lost that may have told anything, even the end of the turn. */
  lineLost(head: string): void;
  evidence(): Evidence;
  readonly ended: Promise<TurnEnd>;
}

/** Follows the turn that is started next in the thread. Other threads and other turns are none of its business. */
export function watchTurn(threadId: string, events: EventStream): TurnWatch {
  const found: Mutable<Evidence> = { ...NOTHING };
  const seeItem = createItemReader(found, events);
  let ownId: string | null = null;
  const figures = createDueFigures();
  let end = (_end: TurnEnd): void => {};
  const ended = new Promise<TurnEnd>((resolve) => (end = resolve));

  function see(note: CodexNote): void {
    if (!('turnId' in note) || note.threadId !== threadId) return;
    if (note.type === 'turn-started') ownId ??= note.turnId;
    if (note.turnId !== ownId) return;
    if (note.type === 'item-started' || note.type === 'item-ended') seeItem(note.item, note.type === 'item-ended');
    figures.saw(note);
    if (note.type === 'text') found.wrote = true;
    if (note.type === 'plan') found.otherSigns = true;
    if (note.type === 'error' && !note.willRetry) found.error = note.error;
    if (note.type === 'error') events.notice(`codex: ${fullText(note.error)}`);
    if (note.type === 'turn-ended') end(note.end);
  }

  return {
    named: (turnId) => void (ownId = turnId),
    turnId: () => ownId,
    see,
    requestEnded() {
      found.requests += 1;
      figures.told();
    },
    figures: figures.settled,
    lineLost(head) {
      found.otherSigns = true;
      if (ownId !== null && head.includes('"turn/completed"') && head.includes(ownId)) end({ status: 'unreadable' });
    },
    evidence: () => ({ ...found }),
    ended,
  };
}

/** Whether the model did something of which the figures are not told yet. Codex tells them after each request. */
function createDueFigures() {
  let areDue = false;
  let onTold = (): void => {};
  return {
    saw(note: CodexNote): void {
      areDue ||= note.type === 'text' || ('item' in note && note.item.type !== 'userMessage');
    },
    told(): void {
      areDue = false;
      onTold();
    },
    settled: (): Promise<void> => (areDue ? new Promise((resolve) => (onTold = resolve)) : Promise.resolve()),
  };
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

const MOST_CALLS = 5_000;
const NOTHING: Evidence = {
  wrote: false,
  text: '',
  tools: 0,
  commands: 0,
  commandsLost: 0,
  whyLost: '',
  otherWork: 0,
  changed: false,
  requests: 0,
  otherSigns: false,
  error: null,
};

/** Tells the items of a turn as events, and keeps what they are evidence of. */
function createItemReader(found: Mutable<Evidence>, events: EventStream): (item: Item, isEnd: boolean) => void {
  const seen = new Set<string>();

  function seeCall(item: Item, name: string, isEnd: boolean): void {
    const key = keyOf(item.id);
    if (!seen.has(key)) {
      if (seen.size < MOST_CALLS) seen.add(key);
      found.tools += 1;
      if (isCommand(item)) found.commands += 1;
      events.toolStarted({ id: item.id, name, input: inputOf(item) });
    }
    if (!isEnd) return;
    const duration = item.durationMs == null ? {} : { durationMs: item.durationMs };
    events.toolEnded({ id: item.id, ok: succeeded(item), input: inputOf(item), output: outputOf(item), ...duration });
    countEnd(found, item);
  }

  return (item, isEnd) => {
    const tool = toolOf(item);
    if (tool !== null) seeCall(item, tool, isEnd);
    else if (!isPlain(item)) found.otherSigns = true;
    const text = itemText(item);
    if (isBlank(text)) return;
    found.wrote = true;
    if (!isEnd) return;
    found.text = text;
    events.message(text);
  };
}

function countEnd(found: Mutable<Evidence>, item: Item): void {
  const why = isCommand(item) ? neverRan(item) : null;
  if (!isCommand(item) && succeeded(item)) found.otherWork += 1;
  if (why === null) found.changed ||= (isCommand(item) || succeeded(item)) && !onlyLooks(item);
  else {
    found.commandsLost += 1;
    found.whyLost ||= why;
  }
}
