/** A JSON Schema, as OpenAPI 3.1 takes it. */
export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: 'string' };
export const count: Schema = { type: 'integer' };
export const amount: Schema = { type: 'number' };
export const flag: Schema = { type: 'boolean' };
export const time: Schema = { type: 'string', format: 'date-time' };

export function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] };
}

export function listOf(items: Schema): Schema {
  return { type: 'array', items };
}

export function oneOf(...words: readonly string[]): Schema {
  return { type: 'string', enum: words };
}

/** An object with exactly these fields; one whose name ends in `?` may be absent. */
export function record(fields: Readonly<Record<string, Schema>>): Schema {
  const names = Object.keys(fields);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ''), fields[name]])),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  };
}

export function ref(name: keyof typeof SCHEMAS): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** By name, any number of them. */
function mapOf(values: Schema): Schema {
  return { type: 'object', additionalProperties: values };
}

const NAMES = { issue_id: text, issue_identifier: text, 'display_identifier?': text };
const ISSUE = { ...NAMES, title: text, url: text, state: text };

const RUNNING = {
  ...NAMES,
  state: text,
  session_id: text,
  turn_count: count,
  last_event: text,
  last_message: text,
  started_at: time,
  last_event_at: time,
  workspace_path: text,
  tokens: { $ref: '#/components/schemas/Tokens' },
  'model_name?': text,
  api_request_count: count,
  'requests_by_model?': mapOf(count),
  tool_time_percent: orNull(amount),
  api_time_percent: orNull(amount),
};

const RUN = {
  id: text,
  ...ISSUE,
  attempt: count,
  trigger: text,
  agent_kind: text,
  status: oneOf('running', 'succeeded', 'failed', 'cancelled', 'interrupted', 'budget_stopped', 'blocked'),
  started_at: time,
  ended_at: orNull(time),
  turn_count: count,
  session_id: text,
  workspace_path: text,
  'model_name?': text,
  tokens: orNull({ $ref: '#/components/schemas/Tokens' }),
  cost_usd: orNull(amount),
  error: orNull(text),
};

const LOOK = {
  at: time,
  url: text,
  mergeability: text,
  review_decision: text,
  ci_status: text,
  draft: flag,
  merged: flag,
};

/** Every record that an answer is made of. */
export const SCHEMAS = {
  Error: record({ error: record({ code: text, message: text }) }),
  Tokens: record({ input_tokens: count, output_tokens: count, total_tokens: count, cache_read_tokens: count }),
  Running: record(RUNNING),
  Claim: record({ phase: oneOf('running', 'handing_off'), ...RUNNING }),
  Retry: record({ ...NAMES, attempt: count, due_at: time, error: text }),
  Run: record(RUN),
  RunEvent: record({ at: time, type: text, text, 'details?': { type: 'object' } }),
  Parked: record({ ...ISSUE, reason: text, detail: text, parked_at: time }),
  Hold: record({ ...ISSUE, reason: text, detail: text, since: time }),
  MergeRequest: record({
    ...NAMES,
    owner: text,
    repo: text,
    number: count,
    branch: text,
    head_sha: text,
    watched_since: time,
    managed: orNull(flag),
    problem: orNull(text),
    last_look: orNull(record(LOOK)),
    reactions: listOf(record({ kind: text, attempts_used: count, escalated: flag, waiting_for: text, next_check_at: time })),
  }),
  Statistics: record({
    key: text,
    runs: count,
    outcomes: mapOf(count),
    seconds: amount,
    longest_seconds: amount,
    tokens: { $ref: '#/components/schemas/Tokens' },
    cost_usd: amount,
  }),
  Issue: record({
    ...ISSUE,
    place: oneOf('running', 'waiting', 'parked', 'held', 'watched', 'handed_off', 'not_running'),
    claim: orNull({ $ref: '#/components/schemas/Claim' }),
    retry: orNull({ $ref: '#/components/schemas/Retry' }),
    parked: orNull({ $ref: '#/components/schemas/Parked' }),
    watch: orNull({ $ref: '#/components/schemas/MergeRequest' }),
    holds: listOf({ $ref: '#/components/schemas/Hold' }),
    runs: listOf({ $ref: '#/components/schemas/Run' }),
    next_cursor: orNull(text),
  }),
  Requested: record({
    requested: oneOf('stop', 'retry', 'unpark', 'pause', 'resume'),
    'issue_identifier?': text,
    'reason?': text,
    requested_at: time,
    by: text,
    message: text,
  }),
} as const satisfies Readonly<Record<string, Schema>>;
