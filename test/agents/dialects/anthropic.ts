import { recordOf, recordsIn, textOf, type Dialect, type Entry, type JsonRecord, type Utterance } from './dialect.ts';

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
      input_tokens: figures.input - figures.cached,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: figures.cached,
    };
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null };
    const stop_reason = 'say' in utterance ? 'end_turn' : 'tool_use';
    const block = blockOf(utterance, id);
    if (!streams)
      return {
        status: 200,
        json: { ...message, content: [block.whole], stop_reason, usage: { ...usage, output_tokens: figures.output } },
      };
    const events = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: block.empty },
      { type: 'content_block_delta', index: 0, delta: block.delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: figures.output } },
      { type: 'message_stop' },
    ];
    return { status: 200, events: events.map((data) => ({ name: data.type, data })) };
  },
  fail: (status) => ({ status, json: { type: 'error', error: FAULTS[status] } }),
};

const FAULTS = {
  401: { type: 'authentication_error', message: 'invalid x-api-key' },
  429: { type: 'rate_limit_error', message: "This request would exceed your account's rate limit. Please try again later." },
  500: { type: 'api_error', message: 'Internal server error' },
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

function blockOf(utterance: Utterance, id: string): { whole: object; empty: object; delta: object } {
  if ('say' in utterance) {
    const text = utterance.say;
    return { whole: { type: 'text', text }, empty: { type: 'text', text: '' }, delta: { type: 'text_delta', text } };
  }
  const use = { type: 'tool_use', id: `toolu_${id}`, name: utterance.call.name };
  return {
    whole: { ...use, input: recordOf(utterance.input) },
    empty: { ...use, input: {} },
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(utterance.input) },
  };
}
