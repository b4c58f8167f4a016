import { piecesOf, recordOf, recordsIn, textOf, type Dialect, type Entry, type JsonRecord, type Utterance } from './dialect.ts';

/** Anthropic's Messages API: https://docs.anthropic.com/en/api/messages-streaming */
export const anthropic: Dialect = {
  matches: (path) => path.endsWith('/v1/messages'),
  read: (body) => ({
    model: String(body['model']),
    entries: entriesOf(recordsIn(body['messages'])),
    tools: recordsIn(body['tools']).map((tool) => ({ name: String(tool['name']) })),
    streams: body['stream'] === true,
  }),
  write(utterance, { model, streams }, figures, id) {
    const usage = {
      // What is read from the cache and what is written to it stand beside the rest.
      input_tokens: figures.input - figures.cached - CACHE_WRITTEN,
      cache_creation_input_tokens: CACHE_WRITTEN,
      cache_read_input_tokens: figures.cached,
    };
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null };
    const stop_reason = 'say' in utterance ? 'end_turn' : 'tool_use';
    const blocks = blocksOf(utterance, id);
    if (!streams) {
      const content = blocks.map(({ whole }) => whole);
      return { status: 200, json: { ...message, content, stop_reason, usage: { ...usage, output_tokens: figures.output } } };
    }
    const start = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
    const events = [
      { type: 'message_start', message: start },
      ...blocks.flatMap(({ empty, deltas }, index) => [
        { type: 'content_block_start', index, content_block: empty },
        ...deltas.map(({ delta, afterMs }) => ({ type: 'content_block_delta', index, delta, afterMs })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: figures.output } },
      { type: 'message_stop' },
    ];
    return { status: 200, events: events.map(({ afterMs = 0, ...data }: Timed) => ({ name: data.type, data, afterMs })) };
  },
  fault: (failing) => ({ type: 'error', error: FAULTS[failing] }),
};

const CACHE_WRITTEN = 30;

const FAULTS = {
  login: { type: 'authentication_error', message: 'invalid x-api-key' },
  'used-up': {
    type: 'rate_limit_error',
    message: "This request would exceed your account's rate limit. Please try again later.",
  },
  'slow-down': { type: 'rate_limit_error', message: 'Number of requests has exceeded your per-minute rate limit.' },
  broken: { type: 'api_error', message: 'Internal server error' },
} as const;

function entriesOf(messages: readonly JsonRecord[]): Entry[] {
  const parts = messages.flatMap((message) => recordsIn(message['content']));
  const names = new Map(parts.filter((part) => part['type'] === 'tool_use').map((part) => [part['id'], String(part['name'])]));
  return messages.flatMap((message): Entry[] => {
    if (message['role'] === 'assistant') return [{ by: 'model' }];
    const results = recordsIn(message['content']).filter((part) => part['type'] === 'tool_result');
    const said: Entry = { by: 'person', text: textOf(message['content']) };
    return [...results.map((part): Entry => ({ by: 'tool', name: names.get(part['tool_use_id']) })), said];
  });
}

interface Timed {
  readonly type: string;
  readonly afterMs?: number;
}

interface Block {
  readonly whole: object;
  readonly empty: object;
  readonly deltas: readonly { readonly delta: object; readonly afterMs: number }[];
}

function blocksOf(utterance: Utterance, id: string): Block[] {
  if ('say' in utterance) {
    const deltas = piecesOf(utterance).map(({ text, afterMs }) => ({ delta: { type: 'text_delta', text }, afterMs }));
    return [{ whole: { type: 'text', text: utterance.say }, empty: { type: 'text', text: '' }, deltas }];
  }
  return utterance.calls.map(({ call, input }, index) => {
    const use = { type: 'tool_use', id: `toolu_${id}${index}`, name: call.name };
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
    return { whole: { ...use, input: recordOf(input) }, empty: { ...use, input: {} }, deltas: [{ delta, afterMs: 0 }] };
  });
}
