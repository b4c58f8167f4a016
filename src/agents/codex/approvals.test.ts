import { describe, expect, it } from 'vitest';
import { JsonRpcError } from '../../lib/json-rpc/index.ts';
import { answerTo } from './approvals.ts';
import { optionsSchema } from './options.ts';
import { ASKED_COMMAND, ASKED_PERSON, ASKED_TOOL } from '../../../test/support/codex/recorded.ts';

function context(options: object = {}, ownServer: string | null = 'foray') {
  return { options: optionsSchema().parse(options), ownServer, now: () => 1_700_000_000_900 };
}

const ASKS = { approval_policy: 'on-request' };
const foreignTool = { ...ASKED_TOOL.params, serverName: 'mail' };

describe('a request', () => {
  const rows: [string, string, object, object, unknown][] = [
    ['for a command under never', ASKED_COMMAND.method, ASKED_COMMAND.params, {}, { decision: 'decline' }],
    ['for a command', ASKED_COMMAND.method, ASKED_COMMAND.params, ASKS, { decision: 'accept' }],
    [
      'for a command in full access',
      ASKED_COMMAND.method,
      {},
      { ...ASKS, sandbox: 'danger-full-access' },
      { decision: 'accept' },
    ],
    ['for a command in read-only', ASKED_COMMAND.method, {}, { ...ASKS, sandbox: 'read-only' }, { decision: 'decline' }],
    ['that cannot be accepted', ASKED_COMMAND.method, { availableDecisions: ['decline'] }, ASKS, { decision: 'decline' }],
    [
      'that can only be cancelled',
      ASKED_COMMAND.method,
      { availableDecisions: ['accept', 'cancel'] },
      {},
      { decision: 'cancel' },
    ],
    ['for a file change', 'item/fileChange/requestApproval', {}, ASKS, { decision: 'accept' }],
    ['for a file change under never', 'item/fileChange/requestApproval', {}, {}, { decision: 'decline' }],
    ['of old for a command', 'execCommandApproval', { command: ['ls'] }, ASKS, { decision: 'approved' }],
    [
      'of old for a patch',
      'applyPatchApproval',
      {},
      {},
      { decision: { denied: { rejection: 'nobody is there to approve it' } } },
    ],
    ['for permissions', 'item/permissions/requestApproval', {}, ASKS, { permissions: {}, scope: 'turn' }],
    ['for our own tool', ASKED_TOOL.method, ASKED_TOOL.params, {}, { action: 'accept', content: {} }],
    ['for the tool of another server', ASKED_TOOL.method, foreignTool, {}, { action: 'decline', content: null }],
    ['for the tool of another server by policy', ASKED_TOOL.method, foreignTool, ASKS, { action: 'accept', content: {} }],
    [
      'of a tool server to a person',
      ASKED_TOOL.method,
      { serverName: 'foray', message: 'Name?' },
      ASKS,
      { action: 'decline', content: null },
    ],
    ['for the time', 'currentTime/read', {}, {}, { currentTimeAt: 1_700_000_000 }],
  ];
  it.each(rows)('%s is answered', (_name, method, params, options, reply) => {
    expect(answerTo(method, params, context(options))).toMatchObject({ reply });
  });

  it('for a tool that nobody offered is answered as failed', () => {
    expect(answerTo('item/tool/call', { tool: 'x' }, context())).toMatchObject({ reply: { success: false } });
  });

  it('that only a person can answer is refused, and its question kept', () => {
    const answer = answerTo(ASKED_PERSON.method, ASKED_PERSON.params, context(ASKS));
    expect(answer).toMatchObject({ question: 'Which database?', reply: { code: -32000 } });
    expect(answer.reply).toBeInstanceOf(JsonRpcError);
  });

  it('whose refusal ends the turn is for a person, and its question kept', () => {
    const params = { ...ASKED_COMMAND.params, availableDecisions: ['accept', 'cancel'] };
    expect(answerTo(ASKED_COMMAND.method, params, context())).toMatchObject({
      notice: 'declined a command /bin/bash -lc ls',
      question: 'may it have the command /bin/bash -lc ls?',
    });
    expect(answerTo(ASKED_COMMAND.method, params, context(ASKS))).not.toHaveProperty('question');
  });

  it('that does not hold the agent up is refused, and the turn goes on', () => {
    const params = { ...ASKED_PERSON.params, isBlocking: false };
    expect(answerTo(ASKED_PERSON.method, params, context())).not.toHaveProperty('question');
  });

  it.each(['account/chatgptAuthTokens/refresh', 'attestation/generate', 'something/new', 'toString', '__proto__'])(
    '%s, which we do not serve, is refused',
    (method) => {
      expect(answerTo(method, null, context())).toMatchObject({ reply: { code: -32601 } });
    },
  );

  it('that is declined is told to the operator', () => {
    expect(answerTo(ASKED_COMMAND.method, ASKED_COMMAND.params, context()).notice).toBe('declined a command /bin/bash -lc ls');
    expect(answerTo(ASKED_COMMAND.method, ASKED_COMMAND.params, context(ASKS)).notice).toBe('');
  });
});

it.each([
  ['execCommandApproval', 'command'],
  ['item/tool/requestUserInput', 'questions'],
])('%s is answered also where its %s are nested without end', (method, field) => {
  const nested: unknown = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000));
  const params = { [field]: field === 'questions' ? [{ question: nested }] : nested };
  expect(answerTo(method, params, context())).toHaveProperty('reply');
});
