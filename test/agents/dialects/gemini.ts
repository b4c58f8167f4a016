import { recordOf, recordsIn, textOf, type Dialect, type Entry, type JsonRecord } from './dialect.ts';

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
    const part =
      'say' in utterance
        ? { text: utterance.say }
        : { functionCall: { id: `fc_${id}`, name: utterance.call.name, args: utterance.input } };
    const data = {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        promptTokenCount: figures.input,
        candidatesTokenCount: figures.output,
        totalTokenCount: figures.input + figures.output,
        cachedContentTokenCount: figures.cached,
      },
      modelVersion: model,
      responseId: `resp_${id}`,
    };
    return streams ? { status: 200, events: [{ data }] } : { status: 200, json: data };
  },
  fail: (status) => ({ status, json: { error: { code: status, ...FAULTS[status] } } }),
};

const FAULTS = {
  401: { message: 'API key not valid. Please pass a valid API key.', status: 'UNAUTHENTICATED' },
  429: {
    message: 'You exceeded your current quota, please check your plan and billing details.',
    status: 'RESOURCE_EXHAUSTED',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel', quotaMetric: 'generate_requests' }],
      },
    ],
  },
  500: { message: 'An internal error has occurred.', status: 'INTERNAL' },
} as const;

function entriesOf(content: JsonRecord): Entry[] {
  if (content['role'] === 'model') return [{ by: 'model' }];
  const hasResult = recordsIn(content['parts']).some((part) => Object.keys(recordOf(part['functionResponse'])).length > 0);
  return hasResult ? [{ by: 'tool' }] : [{ by: 'person', text: textOf(content['parts']) }];
}
