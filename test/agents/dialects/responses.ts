import {
  recordOf,
  recordsIn,
  textOf,
  type Dialect,
  type Entry,
  type JsonRecord,
  type OfferedTool,
  type Utterance,
} from './dialect.ts';

/** OpenAI's Responses API: https://platform.openai.com/docs/api-reference/responses-streaming */
export const responses: Dialect = {
  matches: (path) => path.endsWith('/responses'),
  read: (body) => ({
    model: String(body['model']),
    entries: recordsIn(body['input']).flatMap(entriesOf),
    tools: recordsIn(body['tools']).flatMap(toolsOf),
    streams: body['stream'] === true,
  }),
  write(utterance, { model }, figures, id) {
    const base = { id: `resp_${id}`, object: 'response', created_at: 1_700_000_000, model };
    const usage = {
      input_tokens: figures.input,
      input_tokens_details: { cached_tokens: figures.cached },
      output_tokens: figures.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: figures.input + figures.output,
    };
    const item = itemOf(utterance, id);
    const events = [
      { type: 'response.created', response: { ...base, status: 'in_progress', output: [], usage: null } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...base, status: 'completed', output: [item], usage } },
    ];
    return { status: 200, events: events.map((data, index) => ({ name: data.type, data: { ...data, sequence_number: index } })) };
  },
  fail: (status) => ({ status, json: { error: FAULTS[status] } }),
};

const FAULTS = {
  401: { message: 'Incorrect API key provided.', type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
  429: { message: 'The usage limit has been reached', type: 'usage_limit_reached', plan_type: 'pro', resets_in_seconds: 3600 },
  500: { message: 'The server had an error while processing your request.', type: 'server_error', param: null, code: null },
} as const;

function entriesOf(item: JsonRecord): Entry[] {
  const type = String(item['type'] ?? 'message');
  if (type.endsWith('_output')) return [{ by: 'tool' }];
  if (type !== 'message' || item['role'] === 'assistant') return [{ by: 'model' }];
  return item['role'] === 'user' ? [{ by: 'person', text: textOf(item['content']) }] : [];
}

function toolsOf(tool: JsonRecord): OfferedTool[] {
  const type = String(tool['type']);
  const name = String(tool['name'] ?? type);
  if (type !== 'namespace') return [{ name, type }];
  return recordsIn(tool['tools']).map((inner) => ({ name: String(inner['name']), type: String(inner['type']), namespace: name }));
}

function itemOf(utterance: Utterance, id: string): object {
  if ('say' in utterance) {
    const content = [{ type: 'output_text', text: utterance.say, annotations: [] }];
    return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content };
  }
  const { name, type, namespace } = utterance.call;
  const call = {
    id: `item_${id}`,
    call_id: `call_${id}`,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    status: 'completed',
  };
  if (type === 'custom') return { ...call, type: 'custom_tool_call', input: String(utterance.input) };
  return { ...call, type: 'function_call', arguments: JSON.stringify(recordOf(utterance.input)) };
}
