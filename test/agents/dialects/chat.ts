import { piecesOf, recordOf, recordsIn, textOf, THOUGHTS, type Dialect, type Entry, type JsonRecord } from './dialect.ts';

/** OpenAI's Chat Completions API: https://platform.openai.com/docs/api-reference/chat-streaming */
export const chat: Dialect = {
  matches: (path) => path.endsWith('/chat/completions'),
  read: (body) => ({
    model: String(body['model']),
    entries: recordsIn(body['messages']).flatMap(entriesOf),
    tools: recordsIn(body['tools']).map((tool) => ({ name: String(recordOf(tool['function'])['name']) })),
    streams: body['stream'] === true,
  }),
  write(utterance, { model, streams }, figures, id) {
    const base = { id: `chatcmpl_${id}`, created: 1_700_000_000, model };
    const usage = {
      prompt_tokens: figures.input,
      completion_tokens: figures.output,
      total_tokens: figures.input + figures.output,
      prompt_tokens_details: { cached_tokens: figures.cached },
      completion_tokens_details: { reasoning_tokens: THOUGHTS },
    };
    const tool_calls =
      'calls' in utterance
        ? utterance.calls.map(({ call, input }, index) => ({
            index,
            id: `call_${id}${index}`,
            type: 'function',
            function: { name: call.name, arguments: JSON.stringify(input) },
          }))
        : [];
    const finish_reason = tool_calls.length > 0 ? 'tool_calls' : 'stop';
    if (!streams) {
      const content = 'say' in utterance ? utterance.say : null;
      const message = { role: 'assistant', content, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
      const choices = [{ index: 0, message, finish_reason }];
      return { status: 200, json: { ...base, object: 'chat.completion', choices, usage } };
    }
    const chunk = (delta: object, more: object = {}) => ({
      ...base,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: null, ...more }],
    });
    const deltas =
      'say' in utterance
        ? piecesOf(utterance).map(({ text, afterMs }) => ({ data: chunk({ content: text }), afterMs }))
        : [{ data: chunk({ tool_calls }) }];
    return {
      status: 200,
      events: [
        { data: chunk({ role: 'assistant', content: '' }) },
        ...deltas,
        { data: chunk({}, { finish_reason }) },
        { data: { ...base, object: 'chat.completion.chunk', choices: [], usage } },
        { data: DONE },
      ],
    };
  },
  fault: (failing) => ({ error: FAULTS[failing] }),
};

/** The last event is no JSON. */
export const DONE = '[DONE]';

const FAULTS = {
  login: { message: 'Incorrect API key provided.', type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
  'used-up': { message: 'You exceeded your current quota.', type: 'insufficient_quota', param: null, code: 'insufficient_quota' },
  'slow-down': {
    message: 'Rate limit reached for requests per minute.',
    type: 'requests',
    param: null,
    code: 'rate_limit_exceeded',
  },
  broken: { message: 'The server had an error while processing your request.', type: 'server_error', param: null, code: null },
} as const;

function entriesOf(message: JsonRecord): Entry[] {
  if (message['role'] === 'tool') return [{ by: 'tool' }];
  if (message['role'] === 'assistant') return [{ by: 'model' }];
  return message['role'] === 'user' ? [{ by: 'person', text: textOf(message['content']) }] : [];
}
