import {
  piecesOf,
  recordOf,
  recordsIn,
  textOf,
  THOUGHTS,
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
      output_tokens_details: { reasoning_tokens: THOUGHTS },
      total_tokens: figures.input + figures.output,
    };
    const items = itemsOf(utterance, id);
    const events = [
      { type: 'response.created', response: { ...base, status: 'in_progress', output: [], usage: null } },
      ...items.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item: 'say' in utterance ? { ...item, content: [] } : item },
        ...('say' in utterance ? deltasOf(utterance, id) : []),
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: { ...base, status: 'completed', output: items, usage } },
    ];
    return {
      status: 200,
      events: events.map(({ afterMs = 0, ...data }: Timed, index) => ({
        name: data.type,
        data: { ...data, sequence_number: index },
        afterMs,
      })),
    };
  },
  fault: (failing) => ({ error: FAULTS[failing] }),
};

const FAULTS = {
  login: { message: 'Incorrect API key provided.', type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
  'used-up': {
    message: 'The usage limit has been reached',
    type: 'usage_limit_reached',
    plan_type: 'pro',
    resets_in_seconds: 3600,
  },
  'slow-down': {
    message: 'Rate limit reached for requests per minute.',
    type: 'requests',
    param: null,
    code: 'rate_limit_exceeded',
  },
  broken: { message: 'The server had an error while processing your request.', type: 'server_error', param: null, code: null },
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

interface Timed {
  readonly type: string;
  readonly afterMs?: number;
}

function deltasOf(utterance: { readonly say: string; readonly overMs?: number }, id: string): Timed[] {
  const place = { item_id: `msg_${id}`, output_index: 0, content_index: 0 };
  return piecesOf(utterance).map(({ text, afterMs }) => ({
    type: 'response.output_text.delta',
    ...place,
    delta: text,
    afterMs,
  }));
}

function itemsOf(utterance: Utterance, id: string): object[] {
  if ('say' in utterance) {
    const content = [{ type: 'output_text', text: utterance.say, annotations: [] }];
    return [{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content }];
  }
  return utterance.calls.map(({ call: { name, type, namespace }, input }, index) => {
    const call = {
      id: `item_${id}${index}`,
      call_id: `call_${id}${index}`,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      status: 'completed',
    };
    if (type === 'custom') return { ...call, type: 'custom_tool_call', input: String(input) };
    return { ...call, type: 'function_call', arguments: JSON.stringify(recordOf(input)) };
  });
}
