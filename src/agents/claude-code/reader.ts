import type { EventGate } from './event-gate.ts';
import { createNarrator } from './narrator.ts';
import { parseLine, type AssistantRecord, type ResultRecord } from './parse.ts';
import { createToolCalls } from './tool-calls.ts';
import type { UsageBook } from './usage.ts';

/** What the output of one process amounts to. */
export interface Findings {
  /** Lines that were stream-json, and lines that were not. */
  readonly readable: number;
  readonly unreadable: number;
  /** The model wrote or called a tool. */
  readonly worked: boolean;
  /** A tool call ended well, or had no end that we saw although it was not refused. */
  readonly toolWorked: boolean;
  /** The last error that Claude Code put among the messages. */
  readonly error: { readonly word: string; readonly text: string };
  /** When a usage limit lifts that was reported as reached. */
  readonly resetsAt: number | null;
  readonly result: ResultRecord | null;
}

export interface Reader {
  accept(line: string): void;
  hasResult(): boolean;
  /** The process is over: what is still open is closed, and what it spent is kept. */
  finish(): Findings;
}

export interface ReaderDeps {
  readonly gate: EventGate;
  readonly usage: UsageBook;
  readonly onInit: (sessionId: string, model: string) => void;
}

const NO_ERROR: Findings['error'] = { word: '', text: '' };

/** Turns the lines of one process into events, and remembers what decides about its outcome. */
export function createReader({ gate, usage, onInit }: ReaderDeps): Reader {
  const notice = (text: string): void => gate.emit({ type: 'notice', text });
  const narrator = createNarrator(notice);
  const calls = createToolCalls(gate);
  let [readable, unreadable] = [0, 0];
  let worked = false;
  let error = NO_ERROR;
  let result: ResultRecord | null = null;

  function tellUsage(): void {
    const event = usage.event();
    if (event !== null) gate.emit(event);
  }

  function takeMessage(record: AssistantRecord): void {
    if (record.synthetic) {
      // Its words are no work of the model, and it cost no request.
      error = { word: record.error, text: record.texts.join('\n') };
      if (error.text !== '') notice(error.text);
      return;
    }
    // It went on, so the error before is over.
    error = NO_ERROR;
    for (const text of record.texts) gate.emit({ type: 'message', text });
    for (const tool of record.tools) calls.start(tool.id, tool.name);
    worked ||= record.texts.length > 0 || record.tools.length > 0;
    usage.message(record.id, record.model, record.figures);
    tellUsage();
  }

  return {
    accept(line) {
      const record = parseLine(line);
      if (record.type === 'unreadable') unreadable += 1;
      else if (record.type !== 'blank') readable += 1;
      narrator.tell(record);
      if (record.type === 'init') onInit(record.sessionId, record.model);
      if (record.type === 'assistant') takeMessage(record);
      if (record.type === 'tool-results') for (const { id, ok } of record.results) calls.end(id, ok);
      if (record.type === 'result') {
        result = record;
        usage.result(record);
        tellUsage();
      }
    },
    hasResult: () => result !== null,
    finish() {
      const toolWorked = calls.worked(new Set(result?.denials.map((denial) => denial.id)));
      calls.endAll();
      usage.endProcess();
      return { readable, unreadable, worked, toolWorked, error, resetsAt: narrator.resetsAt(), result };
    },
  };
}
