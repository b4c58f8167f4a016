/** One turn as a real agent sent it, shortened. */
export interface Recording {
  /** The name that the agent gives itself. */
  readonly agent: string;
  readonly updates: readonly Readonly<Record<string, unknown>>[];
  readonly result: Readonly<Record<string, unknown>>;
}

const text = (words: string, messageId?: string) => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text: words },
  ...(messageId === undefined ? {} : { messageId }),
});

const codexState = (type: string) => ({ sessionUpdate: 'session_info_update', _meta: { codex: { threadStatus: { type } } } });

/** Turns that wrote a file. */
export const WORKED = {
  claude: {
    agent: '@agentclientprotocol/claude-agent-acp',
    updates: [
      { sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'compact', description: 'x', input: null }] },
      { sessionUpdate: 'usage_update', used: 1503, size: 1000000 },
      text('', 'msg_1'),
      text('I will write the file.', 'msg_1'),
      {
        _meta: { claudeCode: { toolName: 'Write' } },
        toolCallId: 'toolu_2',
        sessionUpdate: 'tool_call',
        rawInput: {},
        status: 'pending',
        title: 'Write',
        kind: 'edit',
        content: [],
      },
      {
        _meta: { claudeCode: { toolName: 'Write' } },
        toolCallId: 'toolu_2',
        sessionUpdate: 'tool_call_update',
        title: 'Write hello.txt',
      },
      {
        _meta: { claudeCode: { toolResponse: {}, toolName: 'Write' } },
        toolCallId: 'toolu_2',
        sessionUpdate: 'tool_call_update',
      },
      {
        _meta: { claudeCode: { toolName: 'Write' } },
        toolCallId: 'toolu_2',
        sessionUpdate: 'tool_call_update',
        status: 'completed',
      },
      text('DONE: wrote hello.txt', 'msg_3'),
      { sessionUpdate: 'usage_update', used: 1529, size: 1000000, cost: { amount: 0.01408, currency: 'USD' } },
    ],
    result: {
      stopReason: 'end_turn',
      usage: { inputTokens: 2006, outputTokens: 50, cachedReadTokens: 600, cachedWriteTokens: 400, totalTokens: 3056 },
    },
  },
  codex: {
    agent: '@agentclientprotocol/codex-acp',
    updates: [
      codexState('active'),
      {
        sessionUpdate: 'tool_call',
        toolCallId: 'call_3',
        name: 'exec_command',
        kind: 'execute',
        title: "printf '%s' hello > hello.txt",
        status: 'in_progress',
        content: [{ type: 'terminal', terminalId: 'call_3' }],
      },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 'call_3',
        status: 'completed',
        _meta: { terminal_exit: { exit_code: 0 } },
      },
      { sessionUpdate: 'usage_update', used: 1290, size: 258400 },
      text('DONE: wrote hello.txt', 'msg_5'),
      codexState('idle'),
      { sessionUpdate: 'session_info_update', title: 'write hello.txt' },
    ],
    result: {
      stopReason: 'end_turn',
      usage: {
        totalTokens: 2580,
        inputTokens: 2068,
        cachedReadTokens: 400,
        cachedWriteTokens: 0,
        outputTokens: 112,
        thoughtTokens: 20,
      },
      _meta: { quota: { token_count: { totalTokens: 2580, inputTokens: 2068, outputTokens: 112 }, model_usage: [] } },
    },
  },
  copilot: {
    agent: 'Copilot',
    updates: [
      { sessionUpdate: 'session_info_update', title: 'write hello.txt', updatedAt: '2026-11-15T00:29:17.585Z' },
      { sessionUpdate: 'usage_update', used: 9468, size: 922000 },
      { sessionUpdate: 'tool_call', toolCallId: 'call_2', title: 'write file', kind: 'execute', status: 'pending' },
      { sessionUpdate: 'tool_call_update', toolCallId: 'call_2', status: 'completed', rawOutput: { content: 'exit code 0' } },
      text('DONE: wrote hello.txt'),
    ],
    result: {
      stopReason: 'end_turn',
      usage: {
        inputTokens: 2468,
        outputTokens: 112,
        totalTokens: 2580,
        thoughtTokens: 20,
        cachedReadTokens: 400,
        cachedWriteTokens: 0,
      },
    },
  },
  gemini: {
    agent: 'gemini-cli',
    updates: [
      { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'I should write a file.' } },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 'write_file__1',
        status: 'completed',
        title: 'Writing to hello.txt',
        kind: 'edit',
      },
      text('DONE: wrote hello.txt'),
    ],
    result: {
      stopReason: 'end_turn',
      _meta: { quota: { token_count: { input_tokens: 2468, output_tokens: 112 }, model_usage: [] } },
    },
  },
  opencode: {
    agent: 'OpenCode',
    updates: [
      {
        sessionUpdate: 'tool_call',
        toolCallId: 'call_3',
        title: 'write',
        kind: 'edit',
        status: 'pending',
        locations: [],
        rawInput: {},
      },
      { sessionUpdate: 'tool_call_update', toolCallId: 'call_3', status: 'in_progress', kind: 'edit', title: 'write' },
      { sessionUpdate: 'tool_call_update', toolCallId: 'call_3', status: 'completed', title: 'hello.txt' },
      text('DONE: wrote hello.txt', 'msg_1'),
      { sessionUpdate: 'usage_update', used: 1234, size: 128000, cost: { amount: 0.002332, currency: 'USD' } },
    ],
    result: {
      stopReason: 'end_turn',
      usage: { inputTokens: 1034, outputTokens: 46, totalTokens: 1290, thoughtTokens: 10, cachedReadTokens: 200 },
      _meta: {},
    },
  },
} as const satisfies Record<string, Recording>;

/** Turns whose model requests failed and which were reported as `end_turn` all the same. */
export const FAILED_AS_SUCCESS = {
  'codex, a limit': {
    agent: '@agentclientprotocol/codex-acp',
    updates: [
      codexState('active'),
      { sessionUpdate: 'session_info_update', _meta: { codex: { error: { message: 'Reconnecting... 1/1', willRetry: true } } } },
      codexState('systemError'),
      text('exceeded retry limit, last status: 429 Too Many Requests\n\n'),
      { sessionUpdate: 'session_info_update', title: 'x' },
    ],
    result: { stopReason: 'end_turn', usage: null, _meta: { quota: { token_count: null, model_usage: [] } } },
  },
  'codex, a fault after a tool call': {
    agent: '@agentclientprotocol/codex-acp',
    updates: [
      codexState('active'),
      { sessionUpdate: 'tool_call', toolCallId: 'call_3', name: 'exec_command', status: 'in_progress' },
      { sessionUpdate: 'tool_call_update', toolCallId: 'call_3', status: 'completed' },
      codexState('systemError'),
      text('We’re currently experiencing high demand, which may cause temporary errors.\n\n'),
    ],
    result: { stopReason: 'end_turn', usage: { totalTokens: 1290, inputTokens: 1034, cachedReadTokens: 200, outputTokens: 56 } },
  },
  'copilot, a wrong key': {
    agent: 'Copilot',
    updates: [
      text('Info: Request failed due to a transient API error. Retrying...'),
      text(
        'Error: Authentication failed with provider at http://127.0.0.1/v1 (HTTP 401).\n  Check your COPILOT_PROVIDER_API_KEY.',
      ),
    ],
    result: { stopReason: 'end_turn' },
  },
  'copilot, a fault after a tool call': {
    agent: 'Copilot',
    updates: [
      { sessionUpdate: 'tool_call', toolCallId: 'call_2', title: 'write file', kind: 'execute', status: 'pending' },
      { sessionUpdate: 'tool_call_update', toolCallId: 'call_2', status: 'completed' },
      text('Info: Request failed due to a transient API error. Retrying...'),
      text('Error: Failed to get response from the AI model; retried 5 times Last error: 500 fake internal'),
    ],
    result: { stopReason: 'end_turn', usage: { inputTokens: 1234, outputTokens: 56, totalTokens: 1290, cachedReadTokens: 200 } },
  },
  'an unknown agent, an error as its only text': {
    agent: 'some-agent',
    updates: [text('API Error: 500 '), text('internal server error')],
    result: { stopReason: 'end_turn' },
  },
} as const satisfies Record<string, Recording>;
