import { describe, expect, it } from 'vitest';
import { classify, FAILURES, LOST_CONVERSATIONS, whyLost, type Signs } from './classify.ts';

const NONE: Signs = { error: '', status: null, stopReason: '', text: '' };

interface Example {
  readonly signs: Partial<Signs>;
  readonly kind: string;
}

/** For each row of the table, what it must catch. */
const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  'the model refused the request': [
    { signs: { stopReason: 'refusal' }, kind: 'agent_refused' },
    { signs: { text: 'API Error: … which appears to violate our Usage Policy' }, kind: 'agent_refused' },
    { signs: { stopReason: 'refusal', error: 'invalid_request', status: 400 }, kind: 'agent_refused' },
  ],
  'the model API is down or overloaded': [
    { signs: { error: 'server_error' }, kind: 'turn_failed' },
    { signs: { error: 'overloaded' }, kind: 'turn_failed' },
    { signs: { status: 500 }, kind: 'turn_failed' },
    { signs: { status: 529, text: 'API Error: 529 Overloaded.' }, kind: 'turn_failed' },
    { signs: { status: 503, text: 'usage limit reached' }, kind: 'turn_failed' },
    { signs: { text: 'API Error: 502 Bad Gateway' }, kind: 'turn_failed' },
    { signs: { text: '{"type":"overloaded_error"}' }, kind: 'turn_failed' },
  ],
  'the account is out of credit or over its usage limit': [
    { signs: { error: 'rate_limit' }, kind: 'agent_usage_limit' },
    { signs: { error: 'billing_error' }, kind: 'agent_usage_limit' },
    { signs: { status: 429 }, kind: 'agent_usage_limit' },
    { signs: { text: 'Claude AI usage limit reached|1794747600' }, kind: 'agent_usage_limit' },
    { signs: { text: 'Your limit will reset at 3pm' }, kind: 'agent_usage_limit' },
    { signs: { text: "You've hit your limit · resets 2pm" }, kind: 'agent_usage_limit' },
    { signs: { text: "You've hit your weekly limit" }, kind: 'agent_usage_limit' },
    { signs: { text: "You've reached your Opus limit" }, kind: 'agent_usage_limit' },
    { signs: { text: "You're out of extra usage" }, kind: 'agent_usage_limit' },
    { signs: { text: "You've hit your org's monthly spend limit" }, kind: 'agent_usage_limit' },
    { signs: { text: 'Credit balance is too low' }, kind: 'agent_usage_limit' },
    { signs: { text: 'API Error: Request rejected (429) · slow down' }, kind: 'agent_usage_limit' },
    { signs: { text: '{"type":"rate_limit_error"}' }, kind: 'agent_usage_limit' },
  ],
  'the credentials were not accepted': [
    { signs: { error: 'authentication_failed' }, kind: 'agent_not_logged_in' },
    { signs: { error: 'oauth_org_not_allowed' }, kind: 'agent_not_logged_in' },
    { signs: { status: 401 }, kind: 'agent_not_logged_in' },
    { signs: { status: 403, text: 'Failed to authenticate. API Error: 403 no access' }, kind: 'agent_not_logged_in' },
    { signs: { text: 'Invalid API key · Fix external API key' }, kind: 'agent_not_logged_in' },
    { signs: { text: 'invalid x-api-key' }, kind: 'agent_not_logged_in' },
    { signs: { text: 'Not logged in · Please run /login' }, kind: 'agent_not_logged_in' },
    { signs: { text: 'OAuth token has expired' }, kind: 'agent_not_logged_in' },
    { signs: { text: 'OAuth token has been revoked' }, kind: 'agent_not_logged_in' },
    { signs: { text: 'This organization has been disabled.' }, kind: 'agent_not_logged_in' },
  ],
};

describe('the table of failures', () => {
  it('has examples for every row', () => {
    expect(Object.keys(EXAMPLES)).toEqual(FAILURES.map((row) => row.what));
  });

  for (const row of FAILURES) {
    it.each(EXAMPLES[row.what] ?? [])(`${row.what}: $signs`, ({ signs, kind }) => {
      expect(classify({ ...NONE, ...signs })).toBe(row);
      expect(row.kind).toBe(kind);
      expect(row.remedy).toMatch(/\w/);
    });
  }

  it.each([
    {},
    { status: 400, error: 'invalid_request', text: 'API Error: 400 bad field' },
    { status: 404, error: 'model_not_found', text: 'It may not exist or you may not have access to it.' },
    { text: 'Reached maximum number of turns (1)' },
    { stopReason: 'end_turn' },
    { text: "EDQUOT: disk quota exceeded, write '/home/foray/.claude/log'" },
  ])('has no row for %j', (signs) => {
    expect(classify({ ...NONE, ...signs })).toBeNull();
  });
});

describe('the table of lost conversations', () => {
  const examples = [
    'No conversation found with session ID: 00000000-0000-4000-8000-000000000000',
    'Prompt is too long · the request is ~300000 tokens (limit 200000)',
    'API Error: 400 messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1',
  ];
  it.each(LOST_CONVERSATIONS.map((row, i) => ({ ...row, example: examples[i]! })))('$what', ({ what, example }) => {
    expect(whyLost(example)).toBe(what);
  });

  it('leaves other failures alone', () => {
    expect(whyLost('API Error: 500')).toBeNull();
  });
});
