import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessEnd, ProcessHost, ProcessStart, StartedProcess } from '../../ports/process.ts';
import type { EventStream } from '../shared/event-stream.ts';
import type { StopPatience } from '../shared/patience.ts';
import { keyOf } from '../shared/remembered.ts';
import { epochMs } from '../shared/reset-time.ts';
import type { Ending, Evidence } from './judge.ts';
import { parseLine, type AssistantRecord, type ResultRecord, type StreamRecord, type ToolCall } from './parse.ts';
import type { Usage } from './usage.ts';

export interface TurnProcess {
  readonly start: Pick<ProcessStart, 'command' | 'args' | 'cwd' | 'env' | 'user' | 'onSpawn'>;
  readonly host: ProcessHost;
  readonly prompt: string;
  readonly reader: Reader;
  readonly onEnd: (pid: number) => void;
  readonly patience: Patience;
}

export interface Patience extends StopPatience {
  /** From now on: how long a process may stay silent after its result, and how long its end may take then. */
  afterResult(): { readonly lingerMs: number; readonly graceMs: number };
}

/** The longest line that is read whole: a result repeats all that the model wrote last. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Only the agent itself says anything we need: what it left behind gets little time to print. */
const DRAIN_MS = 500;
/** For the output that is still under way when its process is gone. */
const LAST_LINES_MS = 1_000;

/** Runs one process to its end and shows its output to the reader. Aborting ends it; rejects only when it cannot start. */
export async function takeTurn(turn: TurnProcess, signal: AbortSignal): Promise<Ending> {
  const child = await turn.host.start({ ...turn.start, stdin: 'pipe', maxLineBytes: MAX_LINE_BYTES, drainMs: DRAIN_MS });
  void child.settled.then(() => turn.onEnd(child.pid));
  // Not waited for: a process that does not read would hold us up.
  void child.stdin.write(turn.prompt).then(() => child.stdin.end());
  const over = new AbortController();
  try {
    const exit = await Promise.race([readToEnd(child, turn), endOnAbort(child, turn.patience, signal, over.signal)]);
    return { code: exit?.code ?? null, signal: exit === null ? 'SIGKILL' : exit.signal, stderr: child.stderrTail() };
  } catch (error) {
    await child.kill();
    throw error;
  } finally {
    over.abort();
  }
}

/** Background work of the agent may keep it alive after its result, even for ever and with its output closed: silence ends it. */
async function readToEnd(child: StartedProcess, { reader, patience }: TurnProcess): Promise<ProcessEnd> {
  let timer: NodeJS.Timeout | undefined;
  try {
    for await (const line of child.lines()) {
      reader.accept(line);
      clearTimeout(timer);
      if (!reader.hasResult()) continue;
      const { lingerMs, graceMs } = patience.afterResult();
      timer = setTimeout(() => void child.stop(graceMs), lingerMs).unref();
    }
    return await child.settled;
  } finally {
    clearTimeout(timer);
  }
}

/** Settles only after an abort, with null, when the process is gone or given up. */
async function endOnAbort(child: StartedProcess, patience: Patience, signal: AbortSignal, over: AbortSignal): Promise<null> {
  if (!signal.aborted) await aborted(signal, over);
  await interrupt(child, patience.interruptMs);
  await child.stop(patience.leaveMs);
  await delay(LAST_LINES_MS, undefined, { signal: over, ref: false }).catch(() => {});
  return null;
}

function aborted(signal: AbortSignal, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true, signal: over }));
}

/** Only when interrupted it ends the commands it runs, and still reports what it spent. */
async function interrupt(child: StartedProcess, patienceMs: number): Promise<void> {
  const gone = await Promise.race([child.exited.then(() => true), Promise.resolve(false)]);
  if (gone) return;
  child.signal('SIGINT');
  const timer = new AbortController();
  await Promise.race([child.exited, delay(patienceMs, undefined, { signal: timer.signal }).catch(() => {})]);
  timer.abort();
}

export interface Reader {
  accept(line: string): void;
  hasResult(): boolean;
  /** The process is over: what it spent is kept. */
  finish(): Evidence;
}

export interface ReaderDeps {
  readonly events: EventStream;
  readonly usage: Usage;
  readonly onInit: (sessionId: string, model: string) => void;
}

/** Turns the lines of one process into events, and remembers what decides about its outcome. */
export function createReader({ events, usage, onInit }: ReaderDeps): Reader {
  const remarks = createRemarks(events);
  const tools = createToolSums();
  const messages = createMessageReader(events, usage, tools);
  let [readable, unreadable] = [0, 0];
  let result: ResultRecord | null = null;

  function take(record: StreamRecord): void {
    if (record.type === 'init') onInit(record.sessionId, record.model);
    if (record.type === 'assistant') messages.take(record);
    if (record.type === 'tool-results') for (const ended of record.results) tools.end(ended.id, ended.ok);
    if (record.type === 'tool-results') for (const ended of record.results) events.toolEnded(ended);
    if (record.type !== 'result') return;
    result = record;
    usage.result(record);
    tellUsage(usage, events);
  }

  return {
    accept(line) {
      const record = parseLine(line);
      if (record.type === 'unreadable') unreadable += 1;
      else if (record.type !== 'blank') readable += 1;
      remarks.tell(record);
      take(record);
      events.alive();
    },
    hasResult: () => result !== null,
    finish() {
      usage.endProcess();
      const told = { readable, unreadable, result, ...messages.said(), ...remarks.limits() };
      return { ...told, ...tools.sums(new Set(result?.denials.map((denial) => keyOf(denial.id)))) };
    },
  };
}

const NO_ERROR: Evidence['error'] = { word: '', text: '' };

/** Tells what the model says and calls, and remembers its last words and the error that stands. */
function createMessageReader(events: EventStream, usage: Usage, tools: ToolSums) {
  let text = '';
  let error = NO_ERROR;
  return {
    take(record: AssistantRecord): void {
      if (record.synthetic) {
        // Its words are no work of the model, and it cost no request.
        error = { word: record.error, text: record.texts.join('\n') };
        if (error.text !== '') events.notice(error.text);
        return;
      }
      // It went on, so the error before is over.
      error = NO_ERROR;
      for (const said of record.texts) events.message(said);
      text = record.texts.at(-1) ?? text;
      for (const call of record.tools) {
        tools.start(call);
        events.toolStarted(call);
      }
      usage.message(record.id, record.model, record.figures);
      tellUsage(usage, events);
    },
    said: (): Pick<Evidence, 'text' | 'error'> => ({ text, error }),
  };
}

function tellUsage(usage: Usage, events: EventStream): void {
  const event = usage.event();
  if (event !== null) events.usage(event);
}

/** Tools that look and change nothing. */
const LOOKING =
  /^(?:Read|Glob|Grep|LS|NotebookRead|WebFetch|WebSearch|TodoWrite|ToolSearch|mcp__foray__(?:read_issue|run_status))$/;
/** Calls under way that are remembered; more are never open at once. */
const MOST_OPEN = 1_000;

type ToolSums = ReturnType<typeof createToolSums>;

/** What the tool calls of one process came to. */
function createToolSums() {
  const open = new Map<string, boolean>();
  let [calls, endedWell, changed] = [0, false, false];
  return {
    start({ id, name }: ToolCall): void {
      const key = keyOf(id);
      if (open.has(key)) return;
      calls += 1;
      if (open.size >= MOST_OPEN) open.delete(open.keys().next().value ?? '');
      open.set(key, !LOOKING.test(name));
    },
    end(id: string, ok: boolean): void {
      const key = keyOf(id);
      endedWell ||= ok && open.has(key);
      changed ||= ok && open.get(key) === true;
      open.delete(key);
    },
    /** A call without an end that we saw counts as one that ended well, unless it was refused. */
    sums(refused: ReadonlySet<string>): Pick<Evidence, 'calls' | 'toolWorked' | 'changed'> {
      const lost = [...open].filter(([key]) => !refused.has(key));
      return { calls, toolWorked: endedWell || lost.length > 0, changed: changed || lost.some(([, changes]) => changes) };
    },
  };
}

const LAST_DATE = 8.64e15;

/** Puts what is worth a line, and neither work nor outcome, into words. */
function createRemarks(events: EventStream) {
  let resetsAt: number | null = null;
  let retryAfterMs: number | null = null;
  let limitStatus = 'allowed';

  function tellLimit(record: Extract<StreamRecord, { type: 'limit' }>): void {
    const until = record.resetsAt === null || epochMs(record.resetsAt) > LAST_DATE ? null : epochMs(record.resetsAt);
    if (record.status === 'rejected') resetsAt = until;
    if (record.status !== limitStatus && record.status !== 'allowed') {
      const when = until === null ? '' : `, resets at ${new Date(until).toISOString()}`;
      events.notice(`usage limit ${record.window}: ${record.status}${when}`);
    }
    limitStatus = record.status;
  }

  return {
    limits: () => ({ resetsAt, retryAfterMs }),
    tell(record: StreamRecord): void {
      if (record.type === 'limit') tellLimit(record);
      if (record.type === 'compacted') events.notice('the conversation was compacted');
      if (record.type === 'unreadable') events.notice(record.why);
      if (record.type === 'retry') {
        if (record.status === 429) retryAfterMs = askedFor(record.delayMs);
        events.notice(`the model API failed (${record.status ?? record.error}), try ${record.attempt} of ${record.of} follows`);
      }
      if (record.type === 'init') {
        for (const server of record.failedServers)
          events.notice(`the tool server ${server} did not start: its tools are missing`);
      }
    },
  };
}

/** What the remote asks for are whole seconds; Claude Code's own waits are not. */
function askedFor(delayMs: number | null): number | null {
  return delayMs !== null && delayMs > 0 && delayMs % 1000 === 0 ? delayMs : null;
}
