import { isBlank } from '../shared/blank.ts';
import { amountOf, countOf, jsonOf, arrayOr, objectOf, objectsIn, textOf, type Raw } from '../shared/json.ts';

// Wrong or missing fields fall back one by one, so that a release that changes one of them costs only that one. Done by
// hand: a flood has hundreds of thousands of lines, and a schema is an order of magnitude slower.

/** Tokens as Claude Code counts them: cached input apart from the rest. */
export interface Figures {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ToolResult {
  readonly id: string;
  readonly ok: boolean;
  readonly output: unknown;
}

/** One line of `--output-format stream-json`, reduced to what is used. */
export type StreamRecord =
  | { readonly type: 'blank' }
  | { readonly type: 'unreadable'; readonly why: string }
  /** A sign of life without meaning for us. */
  | { readonly type: 'other' }
  | {
      readonly type: 'init';
      readonly sessionId: string;
      readonly model: string;
      readonly failedServers: readonly string[];
    }
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly of: number;
      readonly status: number | null;
      readonly error: string;
      /** How long it waits: what the remote asked for, where it did. */
      readonly delayMs: number | null;
    }
  | { readonly type: 'compacted' }
  | { readonly type: 'limit'; readonly status: string; readonly window: string; readonly resetsAt: number | null }
  | AssistantRecord
  | { readonly type: 'tool-results'; readonly results: readonly ToolResult[] }
  | ResultRecord;

export interface AssistantRecord {
  readonly type: 'assistant';
  readonly id: string;
  readonly model: string;
  /** Written by Claude Code itself, such as the text of an API error. No model said it. */
  readonly synthetic: boolean;
  readonly texts: readonly string[];
  readonly tools: readonly ToolCall[];
  readonly figures: Figures | null;
  /** Claude Code's word for what went wrong; empty for none. */
  readonly error: string;
}

/** A tool call that was refused. */
export interface Denial extends Pick<ToolCall, 'id' | 'name'> {
  /** What it would have asked a person, or the plan it would have shown; empty for other tools. */
  readonly question: string;
}

export interface ResultRecord {
  readonly type: 'result';
  /** Its own word of success: the subtype alone is no proof, an API failure has `success` too. */
  readonly success: boolean;
  readonly subtype: string;
  readonly status: number | null;
  readonly stopReason: string;
  readonly text: string;
  readonly denials: readonly Denial[];
  /** Over all models, sub-agents included. */
  readonly figures: Figures | null;
  /** Without sub-agents. */
  readonly own: Figures | null;
  readonly costUsd: number | null;
  readonly apiMs: number | null;
}

/** Never throws: what cannot be read is said to be so. */
export function parseLine(line: string): StreamRecord {
  const text = line.trim();
  if (text === '') return { type: 'blank' };
  if (CUT.test(text.slice(-80))) return readCut(text);
  const raw = text.startsWith('{') ? objectOf(jsonOf(text)) : null;
  if (raw === null || typeof raw['type'] !== 'string') {
    return { type: 'unreadable', why: `unreadable line: ${text.slice(0, 200)}` };
  }
  return READERS.get(raw['type'])?.(raw) ?? OTHER;
}

/** How the process library marks a line that it did not keep whole. */
const CUT = /\[line cut, \d+ bytes left out\]$/;
const OTHER: StreamRecord = { type: 'other' };

/** Of a line that is too long its beginning is there: enough to know a result that counts as success. */
function readCut(text: string): StreamRecord {
  if (!text.startsWith('{"type":"result","subtype":"success","is_error":false,'))
    return { type: 'unreadable', why: 'a line over 16 MiB was left out' };
  const none = { status: null, stopReason: '', text: '', denials: [], figures: null, own: null, costUsd: null, apiMs: null };
  return { type: 'result', success: true, subtype: 'success', ...none };
}

const READERS: ReadonlyMap<string, (raw: Raw) => StreamRecord> = new Map([
  ['system', readSystem],
  ['assistant', readAssistant],
  ['user', readUser],
  ['result', readResult],
  ['rate_limit_event', readLimit],
]);

function readSystem(raw: Raw): StreamRecord {
  switch (raw['subtype']) {
    case 'init': {
      const failed = objectsIn(raw['mcp_servers']).filter((server) => server['status'] === 'failed');
      const failedServers = failed.map((server) => textOf(server['name']));
      return { type: 'init', sessionId: textOf(raw['session_id']), model: textOf(raw['model']), failedServers };
    }
    case 'api_retry': {
      const [attempt, of] = [countOf(raw['attempt']), countOf(raw['max_retries'])];
      const [status, error] = [statusOf(raw['error_status']), textOf(raw['error'])];
      return { type: 'retry', attempt, of, status, error, delayMs: amountOf(raw['retry_delay_ms']) };
    }
    case 'compact_boundary':
      return { type: 'compacted' };
    default:
      return OTHER;
  }
}

function readAssistant(raw: Raw): StreamRecord {
  const message = objectOf(raw['message']);
  if (message === null) return OTHER;
  const parts = objectsIn(message['content']);
  const error = textOf(raw['error']);
  return {
    type: 'assistant',
    id: textOf(message['id']),
    model: textOf(message['model']),
    synthetic: message['model'] === '<synthetic>' || error !== '',
    texts: parts.flatMap((part) => (part['type'] === 'text' ? [textOf(part['text'])] : [])).filter((text) => !isBlank(text)),
    tools: parts
      .filter((part) => part['type'] === 'tool_use' && textOf(part['id']) !== '')
      .map((part) => ({ id: textOf(part['id']), name: textOf(part['name']), input: part['input'] })),
    figures: figuresOf(objectOf(message['usage']), USAGE_FIELDS),
    error,
  };
}

function readUser(raw: Raw): StreamRecord {
  const parts = objectsIn(objectOf(raw['message'])?.['content']);
  const results = parts.filter((part) => part['type'] === 'tool_result' && textOf(part['tool_use_id']) !== '');
  if (results.length === 0) return OTHER;
  return {
    type: 'tool-results',
    results: results.map((part) => ({
      id: textOf(part['tool_use_id']),
      ok: part['is_error'] !== true,
      output: part['content'],
    })),
  };
}

function readLimit(raw: Raw): StreamRecord {
  const info = objectOf(raw['rate_limit_info']);
  if (info === null) return OTHER;
  const resetsAt = amountOf(info['resetsAt']);
  return { type: 'limit', status: textOf(info['status']), window: textOf(info['rateLimitType']), resetsAt };
}

const MOST_DENIALS = 100;

function readResult(raw: Raw): StreamRecord {
  const errors = arrayOr(raw['errors']).map(textOf);
  const denials = objectsIn(raw['permission_denials']).slice(0, MOST_DENIALS);
  const own = figuresOf(objectOf(raw['usage']), USAGE_FIELDS);
  return {
    type: 'result',
    success: raw['subtype'] === 'success' && raw['is_error'] === false,
    subtype: textOf(raw['subtype']),
    status: statusOf(raw['api_error_status']),
    stopReason: textOf(raw['stop_reason']),
    text: [textOf(raw['result']), ...errors].filter((text) => text !== '').join('; '),
    denials: denials.map(readDenial),
    figures: sumOf(objectOf(raw['modelUsage'])) ?? own,
    own,
    costUsd: amountOf(raw['total_cost_usd']),
    apiMs: amountOf(raw['duration_api_ms']),
  };
}

function readDenial(raw: Raw): Denial {
  const input = objectOf(raw['tool_input']);
  const asked = [...objectsIn(input?.['questions']).map((entry) => textOf(entry['question'])), textOf(input?.['plan'])];
  const question = asked.filter((text) => text !== '').join(' ');
  return { id: textOf(raw['tool_use_id']), name: textOf(raw['tool_name']), question };
}

type FigureFields = Readonly<Record<keyof Figures, string>>;

const USAGE_FIELDS: FigureFields = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cache_read_input_tokens',
  cacheWrite: 'cache_creation_input_tokens',
};

const MODEL_FIELDS: FigureFields = {
  input: 'inputTokens',
  output: 'outputTokens',
  cacheRead: 'cacheReadInputTokens',
  cacheWrite: 'cacheCreationInputTokens',
};

function figuresOf(raw: Raw | null, fields: FigureFields): Figures | null {
  if (raw === null) return null;
  const count = (key: keyof Figures): number => countOf(raw[fields[key]]);
  return { input: count('input'), output: count('output'), cacheRead: count('cacheRead'), cacheWrite: count('cacheWrite') };
}

/** Over all models, sub-agents included, which the plain `usage` leaves out. Null when no model is named. */
function sumOf(byModel: Raw | null): Figures | null {
  const models = Object.values(byModel ?? {}).flatMap((model) => figuresOf(objectOf(model), MODEL_FIELDS) ?? []);
  if (models.length === 0) return null;
  const total = (key: keyof Figures): number => models.reduce((sum, model) => sum + model[key], 0);
  return { input: total('input'), output: total('output'), cacheRead: total('cacheRead'), cacheWrite: total('cacheWrite') };
}

function statusOf(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}
