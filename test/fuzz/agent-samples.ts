import { COMMAND, DECLINED_COMMAND, LOST_COMMAND, message, turnEnded, usage, WORKING_TURN } from '../support/codex/recorded.ts';
import { WORKED } from '../support/acp/recordings.ts';

/** What each agent prints, a value for each line. `$ID` stands for the id of what it was asked last. */
export type Script = readonly unknown[];

const TEXT = 'It failed with secret-token-1 in it.\r\n\u001b[31mShall I go on?\u001b[0m';
const SESSION = '7a1ff9e2-4b1c-4c7e-9d2a-0f4b8a1c2d3e';
const TOKENS = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 };

const INIT = {
  type: 'system',
  subtype: 'init',
  session_id: SESSION,
  model: 'm-1',
  mcp_servers: [{ name: 'foray', status: 'failed' }],
};
const RETRY = {
  type: 'system',
  subtype: 'api_retry',
  attempt: 1,
  max_retries: 10,
  error_status: 429,
  error: TEXT,
  retry_delay_ms: 5e3,
};
const LIMIT = {
  type: 'rate_limit_event',
  rate_limit_info: { status: 'rejected', rateLimitType: 'five_hour', resetsAt: 1_800_000_000 },
};
const assistant = (content: unknown, parts = {}): unknown => ({
  type: 'assistant',
  message: { id: 'msg_1', model: 'm-1', content, usage: TOKENS },
  session_id: SESSION,
  ...parts,
});
const result = (parts: object): unknown => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: TEXT,
  stop_reason: 'end_turn',
  session_id: SESSION,
  total_cost_usd: 0.5,
  duration_api_ms: 1_200,
  usage: TOKENS,
  modelUsage: { 'm-1': { inputTokens: 10, outputTokens: 5, cacheReadInputTokens: 3, cacheCreationInputTokens: 2 } },
  permission_denials: [],
  ...parts,
});
const CALL = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: `echo ${TEXT}`, description: 'x' } };
const RESULT = { type: 'tool_result', tool_use_id: 'toolu_1', is_error: false, content: [{ type: 'text', text: TEXT }] };
const TOLD = { type: 'user', message: { role: 'user', content: [RESULT] }, session_id: SESSION };
const ASKED = {
  tool_name: 'AskUserQuestion',
  tool_use_id: 'toolu_2',
  tool_input: { questions: [{ question: TEXT }], plan: 'x' },
};

export const CLAUDE: readonly Script[] = [
  [INIT, assistant([{ type: 'text', text: TEXT }, CALL]), TOLD, assistant([{ type: 'text', text: 'Done.' }]), result({})],
  [
    INIT,
    RETRY,
    LIMIT,
    assistant([{ type: 'text', text: TEXT }], { error: 'rate_limit' }),
    result({ is_error: true, api_error_status: 429 }),
  ],
  [INIT, assistant([CALL]), { type: 'system', subtype: 'compact_boundary' }, result({ permission_denials: [ASKED] })],
  [
    INIT,
    result({
      subtype: 'error_during_execution',
      is_error: true,
      errors: [`No conversation found with session ID: ${SESSION}`, TEXT],
    }),
  ],
  [INIT, assistant([{ type: 'text', text: TEXT }]), result({ subtype: 'error_max_turns', result: undefined })],
];

const answer = (value: unknown): unknown => ({ id: '$ID', result: value });
const refusal = (code: number): unknown => ({ id: '$ID', error: { code, message: TEXT, data: { details: TEXT } } });
const asks = (method: string, params: unknown): unknown => ({ id: 'theirs', method, params });

const OPEN_CODEX = [
  answer({ userAgent: 'codex' }),
  answer({ account: { type: 'apiKey' }, requiresOpenaiAuth: true }),
  answer({ thread: { id: '$T' }, model: 'm-1' }),
];
const BEGUN_CODEX = [
  ...OPEN_CODEX,
  { method: 'turn/started', params: { threadId: '$T', turn: { id: '$U' } } },
  answer({ turn: { id: '$U' } }),
];
const QUESTION = { questions: [{ id: 'q', question: TEXT, options: [] }], isBlocking: true };

export const CODEX: readonly Script[] = [
  [...BEGUN_CODEX, ...WORKING_TURN, turnEnded('completed')],
  [
    ...BEGUN_CODEX,
    ...message(TEXT),
    usage(1),
    turnEnded('failed', { message: TEXT, codexErrorInfo: { usageLimitExceeded: {} } }),
  ],
  [...BEGUN_CODEX, ...LOST_COMMAND, ...DECLINED_COMMAND, turnEnded('completed'), answer({ exitCode: 1 })],
  [
    ...BEGUN_CODEX,
    asks('item/commandExecution/requestApproval', { command: ['rm', TEXT], availableDecisions: ['accept', 'cancel'] }),
    asks('mcpServer/elicitation/request', {
      serverName: 'foray',
      message: TEXT,
      _meta: { codex_approval_kind: 'mcp_tool_call' },
    }),
    ...COMMAND,
    asks('item/tool/requestUserInput', QUESTION),
    turnEnded('interrupted'),
  ],
  [answer({}), answer({ account: null, requiresOpenaiAuth: true }), refusal(-32_600)],
  [
    ...OPEN_CODEX,
    { method: 'configWarning', params: { summary: TEXT } },
    { method: 'model/rerouted', params: { threadId: '$T', toModel: TEXT } },
    refusal(-32_603),
  ],
  [
    ...BEGUN_CODEX,
    {
      method: 'error',
      params: { threadId: '$T', turnId: '$U', error: { message: TEXT, additionalDetails: TEXT }, willRetry: false },
    },
    { method: 'account/rateLimits/updated', params: { rateLimits: { primary: { usedPercent: 100, resetsAt: 1_800_000_000 } } } },
    turnEnded('failed', TEXT),
  ],
];

const openAcp = (agent: string, setup = {}): readonly unknown[] => [
  answer({
    protocolVersion: 1,
    agentInfo: { name: agent, version: '1' },
    agentCapabilities: { loadSession: false, sessionCapabilities: { resume: {} } },
    authMethods: [{ id: 'key', name: 'Log in', description: TEXT }],
  }),
  answer({ sessionId: 's-1', models: { currentModelId: 'm-1', availableModels: [{ modelId: 'm-1', name: 'M' }] }, ...setup }),
];
const told = (update: unknown): unknown => ({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's-1', update } });
const PERMISSION = {
  sessionId: 's-1',
  toolCall: { toolCallId: 'call_1', title: TEXT, kind: 'execute', rawInput: { command: TEXT }, locations: [{ path: 'a.ts' }] },
  options: [
    { optionId: 'yes', kind: 'allow_once' },
    { optionId: 'no', kind: 'reject_once' },
  ],
};
const PLAN = {
  sessionUpdate: 'plan',
  entries: [
    { content: TEXT, status: 'in_progress' },
    { content: 'x', status: 'completed' },
  ],
};

export const ACP: readonly Script[] = [
  ...Object.values(WORKED).map(({ agent, updates, result: end }) => [...openAcp(agent), ...updates.map(told), answer(end)]),
  [
    ...openAcp('x', {
      modes: { currentModeId: 'a', availableModes: [{ id: 'a', name: 'A' }] },
      configOptions: [{ id: 'c', type: 'select' }],
    }),
    told(PLAN),
    asks('session/request_permission', PERMISSION),
    told({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: TEXT }, messageId: 'm' }),
    asks('fs/read_text_file', { path: '/etc/passwd' }),
    answer({ stopReason: 'refusal', usage: { inputTokens: 1, outputTokens: 2 } }),
  ],
  [...openAcp('x'), asks('session/request_permission', { ...PERMISSION, options: [] }), answer({ stopReason: 'cancelled' })],
  [...openAcp('x'), refusal(-32_000)],
  [openAcp('x')[0], refusal(-32_601)],
];
