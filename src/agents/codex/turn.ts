import { AgentError } from '../../domain/model/errors.ts';
import type { AgentSettings } from '../../domain/model/settings.ts';
import { JsonRpcError, JsonRpcTimeoutError } from '../../lib/json-rpc/index.ts';
import { within } from '../../lib/within.ts';
import { isBlank } from '../shared/blank.ts';
import { departureError, type AgentConnection } from '../shared/connection.ts';
import type { EventStream } from '../shared/event-stream.ts';
import { cancelled, needsPerson } from '../shared/failures.ts';
import { LATE_FIGURES_MS, startPatience, stopPatience } from '../shared/patience.ts';
import { keyOf } from '../shared/remembered.ts';
import { sandboxPolicy, turnParams } from './args.ts';
import { fullText, turnErrorOf } from './classify.ts';
import { judge, mayHaveLostCalls, type Evidence } from './judge.ts';
import type { Listener } from './listener.ts';
import type { Options } from './options.ts';
import {
  commandAnswer,
  inputOf,
  isCommand,
  isPlain,
  neverRan,
  onlyLooks,
  outputOf,
  succeeded,
  itemText,
  toolOf,
  turnAnswer,
  type Item,
  type CodexNote,
  type TurnEnd,
} from './parse.ts';

/** Everything a turn needs. */
export interface TurnParts {
  readonly connection: AgentConnection;
  readonly listener: Listener;
  readonly watch: TurnWatch;
  readonly threadId: string;
  readonly workspacePath: string;
  readonly options: Options;
  readonly settings: AgentSettings;
  readonly now: () => number;
  readonly changedBefore: boolean;
}

/**
 * Takes one turn to its end. Null when it counts. Our own word comes first: a turn that was told to stop is cancelled,
 * and one that asked for a person needs one, whatever Codex says later.
 */
export async function takeTurn(parts: TurnParts, prompt: string, signal: AbortSignal): Promise<AgentError | null> {
  const { connection, listener, watch } = parts;
  const stopped = aborted(signal);
  try {
    const result = await Promise.race([
      watch.ended.then((end) => judgeTurn(parts, end)),
      refusedStart(parts, prompt),
      connection.over.then((departure) => departureError(departure, 'codex')),
      listener.asked.then(() => null),
      stopped.promise,
    ]);
    const figures = Promise.race([watch.figures(), connection.peer.closed, listener.asked, stopped.promise]);
    // They may come a moment after the end, and those of the last turn would be lost.
    await within(LATE_FIGURES_MS, figures);
    if (!signal.aborted && listener.question() === null) return result;
    await interrupt(parts);
    if (!signal.aborted) return askedPerson(listener.question() ?? '');
    await connection.stop(stopPatience(parts.settings).leaveMs);
    return cancelled();
  } finally {
    stopped.forget();
  }
}

export function askedPerson(question: string): AgentError {
  return needsPerson(`codex asks what only a person can answer: ${question}`);
}

async function judgeTurn(parts: TurnParts, end: TurnEnd): Promise<AgentError | null> {
  const { listener, options, now, watch, changedBefore } = parts;
  const evidence = watch.evidence();
  const { sandbox } = options;
  const isDoubtful = end.status === 'completed' && mayHaveLostCalls(evidence, sandbox);
  const sandboxWorks = !isDoubtful || (await trySandbox(parts));
  return judge(end, evidence, { limits: listener.limits, now: now(), sandbox, sandboxWorks, changedBefore });
}

/** No start: a machine under load may take its time. */
const SANDBOX_MS = 60_000;

/** Has Codex run a command that does nothing, in the sandbox of the turn. */
async function trySandbox({ connection, options, workspacePath, settings }: TurnParts): Promise<boolean> {
  const timeoutMs = Math.max(settings.readTimeoutMs, SANDBOX_MS);
  const params = { command: ['true'], cwd: workspacePath, sandboxPolicy: sandboxPolicy(options, workspacePath), timeoutMs };
  try {
    return commandAnswer.parse(await connection.peer.request('command/exec', params, { timeoutMs })).exitCode === 0;
  } catch {
    return false;
  }
}

/** Asks for the turn, and resolves only if that fails. */
function refusedStart(parts: TurnParts, prompt: string): Promise<AgentError> {
  const { connection, listener, watch, settings, now } = parts;
  return new Promise((resolve) => {
    connection.peer.request('turn/start', turnParams(parts, prompt), { timeoutMs: startPatience(settings) }).then(
      (answer) => {
        const read = turnAnswer.safeParse(answer);
        if (read.success) watch.named(read.data.turn.id);
      },
      (error: unknown) => {
        if (error instanceof JsonRpcError) resolve(turnErrorOf({ message: error.message }, listener.limits, now()));
        // A turn that was announced has begun, whatever became of the answer.
        if (error instanceof JsonRpcTimeoutError && watch.turnId() === null) resolve(notStarted(error));
      },
    );
  });
}

function notStarted(error: Error): AgentError {
  return new AgentError({ kind: 'agent_protocol_error', detail: `codex did not start the turn: ${error.message}`, cause: error });
}

/** Asks Codex to end the turn, and waits a bounded time until it has. */
async function interrupt({ connection, watch, threadId, settings }: TurnParts): Promise<void> {
  const turnId = watch.turnId();
  if (turnId === null) return;
  const { interruptMs: timeoutMs } = stopPatience(settings);
  const late = aborted(AbortSignal.timeout(timeoutMs));
  connection.peer.request('turn/interrupt', { threadId, turnId }, { timeoutMs }).catch(() => {});
  await Promise.race([watch.ended, connection.over, late.promise]);
  late.forget();
}

/** Resolves when the signal is aborted. */
function aborted(signal: AbortSignal): { readonly promise: Promise<null>; forget(): void } {
  let tell = (): void => {};
  const promise = new Promise<null>((resolve) => (tell = () => resolve(null)));
  if (signal.aborted) tell();
  signal.addEventListener('abort', tell, { once: true });
  return { promise, forget: () => signal.removeEventListener('abort', tell) };
}

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
