/** What a program asks of the model, in one vocabulary for every API. */
export interface ModelRequest {
  readonly model: string;
  /** The conversation so far, oldest first. */
  readonly entries: readonly Entry[];
  readonly tools: readonly OfferedTool[];
  readonly streams: boolean;
}

export type Entry =
  | { readonly by: 'person'; readonly text: string }
  | { readonly by: 'model' }
  /** The result of a call. The tool is named where its result may have to be told from others. */
  | { readonly by: 'tool'; readonly name?: string };

export interface OfferedTool {
  readonly name: string;
  /** How the API wants it called, where it knows more than one way. */
  readonly type?: string;
  /** The group it stands in, where the API has groups. */
  readonly namespace?: string;
}

/** What the model says. */
export type Utterance =
  | {
      readonly say: string;
      /** How long the text takes to be written, piece by piece; at once unless given. */
      readonly overMs?: number;
    }
  /** One call, or several at once. */
  | { readonly calls: readonly Call[] };

export interface Call {
  readonly call: OfferedTool;
  readonly input: Readonly<Record<string, unknown>> | string;
}

/** The pieces of a text and how long each of them is waited for. */
export function piecesOf(utterance: { readonly say: string; readonly overMs?: number }): { text: string; afterMs: number }[] {
  const { say, overMs = 0 } = utterance;
  if (overMs === 0) return [{ text: say, afterMs: 0 }];
  const words = say.split(/(?<= )/);
  return words.map((text) => ({ text, afterMs: overMs / words.length }));
}

/** Figures of one answer. Input includes the cached share. */
export interface Figures {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** How much of each output is thoughts, where the API tells them apart. They are counted once. */
export const THOUGHTS = 10;

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Server-sent events, or one JSON document. */
  readonly events?: readonly SentEvent[];
  readonly json?: unknown;
}

/** A name is sent where the API has names. */
export interface SentEvent {
  readonly name?: string;
  readonly data: unknown;
  /** How long it is waited for. */
  readonly afterMs?: number;
}

/** How a request fails. Of the two limits one is an account that is used up, the other asks to wait for two seconds. */
export type Failing = 'login' | 'used-up' | 'slow-down' | 'broken';

export const FAILING: Readonly<Record<Failing, Pick<Reply, 'status' | 'headers'>>> = {
  login: { status: 401 },
  'used-up': { status: 429 },
  'slow-down': { status: 429, headers: { 'retry-after': '2' } },
  broken: { status: 500 },
};

/** One model API as its vendor has it. */
export interface Dialect {
  readonly matches: (path: string) => boolean;
  read(body: JsonRecord, path: string): ModelRequest;
  write(utterance: Utterance, request: ModelRequest, figures: Figures, id: string): Reply;
  /** What stands in the body of a failed request. */
  fault(failing: Failing): unknown;
}

export type JsonRecord = Readonly<Record<string, unknown>>;

export function recordOf(value: unknown): JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : {};
}

export function recordsIn(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

/** All text of a message, whose content is either text or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return recordsIn(content)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
    .join('\n');
}
