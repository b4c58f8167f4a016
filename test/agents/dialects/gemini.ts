import {
  FAILING,
  piecesOf,
  recordOf,
  recordsIn,
  textOf,
  THOUGHTS,
  type Dialect,
  type Entry,
  type JsonRecord,
} from './dialect.ts';

/** Google's Gemini API: https://ai.google.dev/api/generate-content */
export const gemini: Dialect = {
  matches: (path) => /:(?:stream)?generateContent$/i.test(path),
  read: (body, path) => ({
    model: /models\/(?<name>[^:]+):/.exec(path)?.groups?.['name'] ?? '',
    entries: recordsIn(body['contents']).flatMap(entriesOf),
    tools: recordsIn(body['tools'])
      .flatMap((tool) => recordsIn(tool['functionDeclarations']))
      .map((tool) => ({ name: String(tool['name']) })),
    streams: path.endsWith(':streamGenerateContent'),
  }),
  write(utterance, { model, streams }, figures, id) {
    const usageMetadata = {
      promptTokenCount: figures.input,
      // Thoughts stand beside the answer.
      candidatesTokenCount: figures.output - THOUGHTS,
      thoughtsTokenCount: THOUGHTS,
      totalTokenCount: figures.input + figures.output,
      cachedContentTokenCount: figures.cached,
    };
    const chunk = (parts: readonly object[], isLast: boolean) => ({
      candidates: [{ content: { role: 'model', parts }, ...(isLast ? { finishReason: 'STOP' } : {}), index: 0 }],
      ...(isLast ? { usageMetadata } : {}),
      modelVersion: model,
      responseId: `resp_${id}`,
    });
    if ('say' in utterance && streams) {
      const pieces = piecesOf(utterance);
      const events = pieces.map(({ text, afterMs }, at) => ({ data: chunk([{ text }], at === pieces.length - 1), afterMs }));
      return { status: 200, events };
    }
    const parts =
      'say' in utterance
        ? [{ text: utterance.say }]
        : utterance.calls.map(({ call, input }, at) => ({ functionCall: { id: `fc_${id}${at}`, name: call.name, args: input } }));
    const data = chunk(parts, true);
    return streams ? { status: 200, events: [{ data }] } : { status: 200, json: data };
  },
  fault: (failing) => ({ error: { code: FAILING[failing].status, ...FAULTS[failing] } }),
};

const FAULTS = {
  login: { message: 'API key not valid. Please pass a valid API key.', status: 'UNAUTHENTICATED' },
  'used-up': {
    message: 'You exceeded your current quota, please check your plan and billing details.',
    status: 'RESOURCE_EXHAUSTED',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel', quotaMetric: 'generate_requests' }],
      },
    ],
  },
  'slow-down': { message: 'Too many requests, please slow down.', status: 'RESOURCE_EXHAUSTED' },
  broken: { message: 'An internal error has occurred.', status: 'INTERNAL' },
} as const;

function entriesOf(content: JsonRecord): Entry[] {
  if (content['role'] === 'model') return [{ by: 'model' }];
  const results = recordsIn(content['parts']).filter((part) => Object.keys(recordOf(part['functionResponse'])).length > 0);
  return results.length > 0 ? results.map(() => ({ by: 'tool' }) as const) : [{ by: 'person', text: textOf(content['parts']) }];
}
