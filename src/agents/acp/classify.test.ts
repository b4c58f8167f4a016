import { describe, expect, it } from 'vitest';
import { JsonRpcError, JsonRpcTimeoutError } from '../../lib/json-rpc/index.ts';
import { complaintError, complaintOf, kindOf, RULES, rpcError, type Complaint } from './classify.ts';

/** Complaints for each rule by its name, most of them as real agents sent them. */
const EXAMPLES: Readonly<Record<string, readonly Complaint[]>> = {
  'log in first': [{ text: 'Authentication required', code: -32000 }],
  'HTTP status of a limit': [
    { text: 'Rate limit exceeded. Try again later.', code: 429 },
    { text: 'x', code: 402 },
  ],
  'HTTP status of a login': [
    { text: '{"error":{"message":"bad key","code":401}}', code: 401 },
    { text: 'x', code: 403 },
  ],
  'kind of a limit': [
    { text: 'x', code: -32603, errorKind: 'rate_limit' },
    { text: 'x', errorKind: 'billing_error' },
  ],
  'kind of a login': [
    { text: 'x', code: -32603, errorKind: 'authentication_failed' },
    { text: 'x', errorKind: 'oauth_org_not_allowed' },
  ],
  'text of a limit': [
    { text: 'exceeded retry limit, last status: 429 Too Many Requests' },
    { text: 'Internal error: fake rate limit', code: -32603 },
    { text: "You've hit your limit · resets 3:45pm (Europe/Berlin)" },
    { text: 'You exceeded your current quota, please check your plan' },
    { text: 'Claude AI usage limit reached|1747346400' },
    { text: 'Your credit balance is too low' },
    { text: 'RESOURCE_EXHAUSTED' },
    { text: 'insufficient_funds' },
    { text: 'API Error: Request rejected (429)' },
  ],
  'text of a login': [
    { text: 'Internal error: Invalid API key · Fix external API key' },
    { text: 'Gemini API key is missing or not configured.' },
    { text: 'Error: Authentication failed with provider at http://127.0.0.1/v1 (HTTP 401).' },
    { text: 'Incorrect API key provided: sk-...' },
    { text: 'API key not valid. Please pass a valid API key.' },
    { text: 'You are not logged in' },
    { text: 'Please run `copilot login` first' },
    { text: 'Please set an Auth method in your settings' },
    { text: 'OAuth token has expired' },
    { text: 'UNAUTHENTICATED' },
  ],
  'text of a refusal': [{ text: 'This request appears to violate our Usage Policy' }],
};

describe('the rules', () => {
  it('each have an example', () => {
    expect(Object.keys(EXAMPLES)).toEqual(RULES.map(({ name }) => name));
  });

  for (const rule of RULES) {
    it.each(EXAMPLES[rule.name] ?? [])(`${rule.name} is ${rule.kind}: $text`, (complaint) => {
      expect(kindOf(complaint)).toBe(rule.kind);
    });
  }

  it.each([
    'We’re currently experiencing high demand, which may cause temporary errors.',
    'API Error: 500 fake internal. This is a server-side issue, usually temporary — try again in a moment.',
    'Session not found: 6f1c4290-4401-4290-b1d1-000000000429',
    'No previous sessions found for this project.',
    'Internal error: bad key',
    'cannot write login.ts',
    'Disk quota exceeded (os error 122)',
    "EDQUOT: disk quota exceeded, write '/home/foray/.agent/log'",
  ])('no rule fits: %s', (text) => {
    expect(kindOf({ text, code: -32603 })).toBeNull();
  });
});

describe('complaintError', () => {
  it('says what failed, why, and what to do', () => {
    const error = complaintError(
      { text: 'Authentication\n  required', code: -32000 },
      { what: 'session/new failed', now: 0, otherwise: 'agent_protocol_error', logins: ['Run `agent login`'] },
    );
    expect(error.message).toBe(
      'agent: agent_not_logged_in: session/new failed: Authentication | required; log the agent in, or set its key in the environment of the daemon (it offers: Run `agent login`)',
    );
  });

  it('carries the time at which a limit lifts', () => {
    const now = Date.parse('2026-11-15T10:00:00Z');
    const read = (text: string) => complaintError({ text }, { what: 'x', now, otherwise: 'turn_failed' }).resetsAt;
    expect(read('usage limit, resets at 2026-11-15T12:00:00Z')).toBe(now + 7_200_000);
    expect(read('usage limit')).toBeUndefined();
    expect(read('resets at 2026-11-15T12:00:00Z')).toBeUndefined();
  });

  it('keeps a long complaint short', () => {
    const error = complaintError({ text: 'x'.repeat(100_000) }, { what: 'x', now: 0, otherwise: 'turn_failed' });
    expect(error.message.length).toBeLessThan(2_200);
  });
});

describe('rpcError', () => {
  it.each([
    ['details', { details: 'No previous sessions' }, 'Internal error: No previous sessions'],
    [
      'a message',
      { message: 'You’ve hit your usage limit.', codexErrorInfo: 'x' },
      'Internal error: You’ve hit your usage limit.',
    ],
    ['a text', 'more', 'Internal error: more'],
    ['nothing of use', { other: 1 }, 'Internal error'],
    ['null', null, 'Internal error'],
    ['the message again', 'Internal', 'Internal error'],
  ])('adds %s from the data of an error', (_name, data, text) => {
    expect(complaintOf(new JsonRpcError(-32603, 'Internal error', data)).text).toBe(text);
  });

  it('takes an answer that did not come for a fault of the protocol', () => {
    const error = rpcError(new JsonRpcTimeoutError('initialize', 5), {
      what: 'initialize failed',
      now: 0,
      otherwise: 'turn_failed',
    });
    expect(error.message).toBe('agent: agent_protocol_error: initialize failed: no answer to initialize within 5 ms');
  });
});
