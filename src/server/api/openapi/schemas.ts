/** A JSON Schema, as OpenAPI 3.1 takes it. */
export type Schema = Readonly<Record<string, unknown>>;

export const TEXT: Schema = { type: 'string' };
export const COUNT: Schema = { type: 'integer' };
export const AMOUNT: Schema = { type: 'number' };
export const FLAG: Schema = { type: 'boolean' };
export const TIME: Schema = { type: 'string', format: 'date-time' };

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

/** The same for what is sent to us: fields that nobody asked for are let be. */
export function openRecord(fields: Readonly<Record<string, Schema>>): Schema {
  return { ...record(fields), additionalProperties: true };
}

export function ref(name: keyof typeof SCHEMAS): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** By name, any number of them. */
function mapOf(values: Schema): Schema {
  return { type: 'object', additionalProperties: values };
}

const NAMES = { issue_id: TEXT, issue_identifier: TEXT, 'display_identifier?': TEXT };
const ISSUE = { ...NAMES, title: TEXT, url: TEXT, state: TEXT, 'state_assumed?': FLAG };

const RUNNING = {
  ...NAMES,
  state: TEXT,
  'state_assumed?': FLAG,
  session_id: TEXT,
  turn_count: COUNT,
  last_event: TEXT,
  last_message: TEXT,
  started_at: TIME,
  last_event_at: TIME,
  workspace_path: TEXT,
  'host?': TEXT,
  tokens: { $ref: '#/components/schemas/Tokens' },
  'model_name?': TEXT,
  api_request_count: COUNT,
  'requests_by_model?': mapOf(COUNT),
  tool_time_percent: orNull(AMOUNT),
  api_time_percent: orNull(AMOUNT),
};

const RUN = {
  id: TEXT,
  ...ISSUE,
  attempt: COUNT,
  trigger: TEXT,
  agent_kind: TEXT,
  status: oneOf('running', 'succeeded', 'failed', 'cancelled', 'interrupted', 'budget_stopped', 'blocked'),
  started_at: TIME,
  ended_at: orNull(TIME),
  turn_count: COUNT,
  session_id: TEXT,
  workspace_path: TEXT,
  'model_name?': TEXT,
  tokens: orNull({ $ref: '#/components/schemas/Tokens' }),
  cost_usd: orNull(AMOUNT),
  error: orNull(TEXT),
};

const LOOK = {
  at: TIME,
  url: TEXT,
  mergeability: TEXT,
  review_decision: TEXT,
  ci_status: TEXT,
  draft: FLAG,
  merged: FLAG,
};

/** Every record that an answer is made of. */
export const SCHEMAS = {
  Error: record({ error: record({ code: TEXT, message: TEXT }) }),
  Tokens: record({ input_tokens: COUNT, output_tokens: COUNT, total_tokens: COUNT, cache_read_tokens: COUNT }),
  Running: record(RUNNING),
  Claim: record({ phase: oneOf('running', 'handing_off'), ...RUNNING }),
  Retry: record({ ...NAMES, attempt: COUNT, due_at: TIME, error: TEXT }),
  Run: record(RUN),
  RunEvent: record({ at: TIME, type: TEXT, text: TEXT, 'details?': { type: 'object' } }),
  Worker: record({
    name: TEXT,
    kind: oneOf('ssh', 'worker'),
    labels: listOf(TEXT),
    slots: orNull(COUNT),
    running: COUNT,
    load: orNull(AMOUNT),
    version: orNull(TEXT),
    last_heartbeat: orNull(TIME),
    problem: orNull(TEXT),
  }),
  Parked: record({ ...ISSUE, reason: TEXT, detail: TEXT, parked_at: TIME }),
  WorkflowProblem: record({
    severity: oneOf('error', 'warning'),
    check: TEXT,
    message: TEXT,
    file: TEXT,
    line: orNull(COUNT),
    column: orNull(COUNT),
  }),
  Hold: record({ ...ISSUE, reason: TEXT, detail: TEXT, since: TIME }),
  MergeRequest: record({
    ...NAMES,
    owner: TEXT,
    repo: TEXT,
    number: COUNT,
    branch: TEXT,
    head_sha: TEXT,
    watched_since: TIME,
    managed: orNull(FLAG),
    problem: orNull(TEXT),
    last_look: orNull(record(LOOK)),
    reactions: listOf(
      record({ kind: TEXT, attempts_used: COUNT, escalated: FLAG, waiting_for: TEXT, next_check_at: orNull(TIME) }),
    ),
  }),
  Statistics: record({
    key: TEXT,
    runs: COUNT,
    outcomes: mapOf(COUNT),
    seconds: AMOUNT,
    longest_seconds: AMOUNT,
    tokens: { $ref: '#/components/schemas/Tokens' },
    cost_usd: AMOUNT,
    unpriced_runs: COUNT,
  }),
  Issue: record({
    ...ISSUE,
    state: orNull(TEXT),
    place: oneOf('running', 'waiting', 'parked', 'held', 'watched', 'handed_off', 'not_running'),
    claim: orNull({ $ref: '#/components/schemas/Claim' }),
    retry: orNull({ $ref: '#/components/schemas/Retry' }),
    parked: orNull({ $ref: '#/components/schemas/Parked' }),
    watch: orNull({ $ref: '#/components/schemas/MergeRequest' }),
    holds: listOf({ $ref: '#/components/schemas/Hold' }),
    runs: listOf({ $ref: '#/components/schemas/Run' }),
    next_cursor: orNull(TEXT),
  }),
  Requested: record({
    requested: oneOf('stop', 'retry', 'unpark', 'pause', 'resume'),
    'issue_identifier?': TEXT,
    'reason?': TEXT,
    requested_at: TIME,
    by: TEXT,
    message: TEXT,
  }),
} as const satisfies Readonly<Record<string, Schema>>;
