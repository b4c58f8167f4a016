import { JsonRpcError, RPC_CODES } from '../../lib/json-rpc/index.ts';
import { jsonText, textOf } from '../shared/json.ts';
import type { Options } from './options.ts';

/** How a request of Codex is answered. */
export interface ApprovalAnswer {
  /** The result, or the error to answer with. */
  readonly reply: unknown;
  /** What the operator should read about it; empty for nothing. */
  readonly notice: string;
  /** What only a person can answer. The turn is over then. */
  readonly question?: string;
}

export interface ApprovalContext {
  readonly options: Options;
  /** Our own tool server, whose calls are always allowed. */
  readonly ownServer: string | null;
  readonly now: () => number;
}

type Params = Readonly<Record<string, unknown>>;

/** Answers any request at once: nobody is there who could be asked. */
export function answerTo(method: string, params: unknown, context: ApprovalContext): ApprovalAnswer {
  const answer = Object.hasOwn(ANSWERS, method) ? ANSWERS[method] : undefined;
  if (answer) return answer(isRecord(params) ? params : {}, context);
  return { reply: new JsonRpcError(RPC_CODES.methodNotFound, `foray does not know ${method}`), notice: '' };
}

/** One row for each request that Codex can make. */
const ANSWERS: Readonly<Record<string, (params: Params, context: ApprovalContext) => ApprovalAnswer>> = {
  'item/commandExecution/requestApproval': (params, context) =>
    decision(mayAct(context), `command ${quoted(params['command'])}`, params['availableDecisions']),
  'item/fileChange/requestApproval': (params, context) => decision(mayAct(context), 'file change', params['availableDecisions']),
  // The two below are the words of older versions.
  execCommandApproval: (params, context) => review(mayAct(context), `command ${quoted(params['command'])}`),
  applyPatchApproval: (_params, context) => review(mayAct(context), 'file change'),
  // Granting nothing is the way to say no.
  'item/permissions/requestApproval': () => ({ reply: { permissions: {}, scope: 'turn' }, notice: 'declined more permissions' }),
  'mcpServer/elicitation/request': elicitation,
  'item/tool/requestUserInput': userInput,
  'item/tool/call': (params) => ({
    reply: { success: false, contentItems: [{ type: 'inputText', text: `there is no tool ${quoted(params['tool'])}` }] },
    notice: '',
  }),
  'currentTime/read': (_params, { now }) => ({ reply: { currentTimeAt: Math.floor(now() / 1000) }, notice: '' }),
};

/** In a sandbox that cannot write, a yes would be a way around it. */
function mayAct({ options }: ApprovalContext): boolean {
  return options.approval_policy !== 'never' && options.sandbox !== 'read-only';
}

function decision(isAllowed: boolean, what: string, available: unknown): ApprovalAnswer {
  const offered = Array.isArray(available) ? available : null;
  const wanted = isAllowed && (offered?.includes('accept') ?? true) ? 'accept' : 'decline';
  // To cancel ends the turn, so it is the last resort, and only a person can help then.
  const isOver = wanted === 'decline' && offered?.includes('cancel') && !offered.includes('decline');
  const reply = { decision: isOver ? 'cancel' : wanted };
  const notice = wanted === 'accept' ? '' : `declined a ${what}`;
  return isOver ? { reply, notice, question: `may it have the ${what}?` } : { reply, notice };
}

function review(isAllowed: boolean, what: string): ApprovalAnswer {
  if (isAllowed) return { reply: { decision: 'approved' }, notice: '' };
  return { reply: { decision: { denied: { rejection: 'nobody is there to approve it' } } }, notice: `declined a ${what}` };
}

/** A tool server asks a person. Codex asks in the same way whether it may call a tool. */
function elicitation(params: Params, context: ApprovalContext): ApprovalAnswer {
  const { _meta: meta, serverName, message } = params;
  const isApproval = isRecord(meta) && meta['codex_approval_kind'] === 'mcp_tool_call';
  const isOwn = context.ownServer !== null && serverName === context.ownServer;
  if (isApproval && (isOwn || mayAct(context))) return { reply: { action: 'accept', content: {} }, notice: '' };
  return {
    reply: { action: 'decline', content: null },
    notice: `declined to answer the tool server ${quoted(serverName)}: ${quoted(message)}`,
  };
}

/** A question that does not hold the agent up may stay without an answer. */
function userInput({ questions, isBlocking }: Params): ApprovalAnswer {
  const question = (Array.isArray(questions) ? questions : [])
    .map((entry) => (isRecord(entry) ? textOf(entry['question']) : ''))
    .join(' ');
  const reply = new JsonRpcError(RPC_CODES.serverError, 'nobody is there to answer');
  if (isBlocking === false) return { reply, notice: `left a question without an answer: ${question}` };
  return { reply, notice: '', question: question.slice(0, MAX_QUOTE) };
}

const MAX_QUOTE = 500;

function quoted(value: unknown): string {
  return (typeof value === 'string' ? value : jsonText(value ?? '')).slice(0, MAX_QUOTE);
}

function isRecord(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
