/**
 * What codex 0.166 printed, shortened. `$T` and `$U` stand for the ids of the thread and the turn.
 */
type Said = { readonly method: string; readonly params: Readonly<Record<string, unknown>> };

const place = { threadId: '$T', turnId: '$U' };

function command(end: Readonly<Record<string, unknown>>): Said[] {
  const item = {
    type: 'commandExecution',
    id: 'call_3mw',
    command: '/bin/bash -lc "printf hello > hello.txt"',
    processId: '14003',
  };
  const started = { ...item, status: 'inProgress', aggregatedOutput: null, exitCode: null, durationMs: null };
  return [
    { method: 'item/started', params: { item: started, ...place } },
    { method: 'item/completed', params: { item: { ...item, durationMs: 3, ...end }, ...place } },
  ];
}

/** A command that ran. */
export const COMMAND = command({ status: 'completed', aggregatedOutput: '', exitCode: 0 });
/** One that ran and failed. */
export const FAILED_COMMAND = command({ status: 'failed', aggregatedOutput: 'no such file\n', exitCode: 1 });
/** One that a broken sandbox kept from running. */
export const LOST_COMMAND = command({
  status: 'failed',
  aggregatedOutput: 'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)\n',
  exitCode: 1,
});
/** One that was not approved. */
export const DECLINED_COMMAND = command({ status: 'declined', aggregatedOutput: null, exitCode: null });

export function message(text: string, id = 'msg_5mw'): Said[] {
  const item = { type: 'agentMessage', id, text: '', phase: null, memoryCitation: null };
  return [
    { method: 'item/started', params: { item, ...place } },
    { method: 'item/agentMessage/delta', params: { ...place, itemId: id, delta: text } },
    { method: 'item/completed', params: { item: { ...item, text }, ...place } },
  ];
}

export const USER_MESSAGE: Said[] = ['item/started', 'item/completed'].map((method) => ({
  method,
  params: {
    item: { type: 'userMessage', id: '01a1', clientId: null, content: [{ type: 'text', text: 'write hello.txt' }] },
    ...place,
  },
}));

/** The figures after so many model requests of the thread; each costs the same. */
export function usage(requests: number, turnId = '$U', threadId = '$T'): Said {
  const times = (count: number): Record<string, number> => ({
    totalTokens: 1290 * count,
    inputTokens: 1234 * count,
    cachedInputTokens: 200 * count,
    cacheWriteInputTokens: 0,
    outputTokens: 56 * count,
    reasoningOutputTokens: 10 * count,
  });
  const tokenUsage = { total: times(requests), last: times(1), modelContextWindow: 258400 };
  return { method: 'thread/tokenUsage/updated', params: { threadId, turnId, tokenUsage } };
}

export function turnEnded(status: string, error: unknown = null): Said {
  return {
    method: 'turn/completed',
    params: { threadId: '$T', turn: { id: '$U', items: [], itemsView: 'notLoaded', status, error, durationMs: 223 } },
  };
}

/** The turn that wrote hello.txt. */
export const WORKING_TURN: Said[] = [
  ...USER_MESSAGE,
  ...COMMAND,
  usage(1),
  {
    method: 'account/rateLimits/updated',
    params: { rateLimits: { limitId: 'codex', primary: null, secondary: null, planType: null } },
  },
  ...message('DONE: wrote hello.txt'),
  usage(2),
  { method: 'thread/status/changed', params: { threadId: '$T', status: { type: 'idle' } } },
  turnEnded('completed'),
];

const UNAUTHORIZED = 'unexpected status 401 Unauthorized: bad key, url: http://127.0.0.1:9999/v1/responses';

function retried(info: object | string, details: string): Said {
  const error = { message: 'Reconnecting... 1/5', codexErrorInfo: info, additionalDetails: details };
  return { method: 'error', params: { error, willRetry: true, ...place } };
}

function failed(info: object | string, text: string): Said[] {
  const error = { message: text, codexErrorInfo: info, additionalDetails: null, misalignment: null };
  return [{ method: 'error', params: { error, willRetry: false, ...place } }, turnEnded('failed', error)];
}

/** A bad key. */
export const AUTH_401: Said[] = [
  retried({ responseStreamDisconnected: { httpStatusCode: 401 } }, UNAUTHORIZED),
  ...failed({ httpConnectionFailed: { httpStatusCode: 401 } }, UNAUTHORIZED),
];

const HIGH_DEMAND = 'We’re currently experiencing high demand, which may cause temporary errors.';

/** A model that answers with status 500. */
export const FAIL_500: Said[] = [
  retried({ responseStreamDisconnected: { httpStatusCode: null } }, HIGH_DEMAND),
  ...failed('internalServerError', HIGH_DEMAND),
];

/** An approval as Codex asks for it. */
export const ASKED_COMMAND = {
  method: 'item/commandExecution/requestApproval',
  params: {
    kind: 'command',
    ...place,
    itemId: 'call_3mw',
    command: '/bin/bash -lc ls',
    availableDecisions: ['accept', 'decline', 'cancel'],
  },
};

export const ASKED_TOOL = {
  method: 'mcpServer/elicitation/request',
  params: {
    ...place,
    serverName: 'foray',
    mode: 'form',
    _meta: { codex_approval_kind: 'mcp_tool_call', persist: ['session', 'always'], tool_params: { text: 'hi' } },
    message: 'Allow the foray MCP server to run tool "issue_note"?',
    requestedSchema: { type: 'object', properties: {} },
  },
};

export const ASKED_PERSON = {
  method: 'item/tool/requestUserInput',
  params: { ...place, itemId: 'call_9', isBlocking: true, questions: [{ id: 'q', header: 'H', question: 'Which database?' }] },
};
