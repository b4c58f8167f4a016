import { z } from 'zod';
import { AgentError } from '../../domain/model/errors.ts';
import { JsonRpcError, JsonRpcUnreadableError, type JsonRpcPeer } from '../../lib/json-rpc/index.ts';
import type { SessionRequest } from '../../ports/agent.ts';
import { kindOfText, LOGIN_REMEDY } from './classify.ts';
import type { CodexOptions } from './options.ts';
import { accountAnswer, threadAnswer } from './parse.ts';

/** The conversation of a session. */
export interface Thread {
  readonly id: string;
  readonly isNew: boolean;
  readonly model: string | null;
  /** What the operator should know about how it was opened; empty for nothing. */
  readonly notice: string;
}

export interface Handshake {
  readonly options: CodexOptions;
  readonly request: SessionRequest;
  readonly apiKey: string | undefined;
}

/** Reports that repeat what others tell, some of them at great length. */
const UNWANTED = ['turn/diff/updated', 'item/fileChange/patchUpdated', 'item/fileChange/outputDelta', 'app/list/updated'];

/** From a fresh process to an open thread: introduce ourselves, log in, resume or begin. */
export async function openThread(peer: JsonRpcPeer, handshake: Handshake, signal: AbortSignal): Promise<Thread> {
  const ask = <T>(method: string, params: unknown, answer: z.ZodType<T>): Promise<T> =>
    demand(peer, { method, params, answer }, signal);
  const clientInfo = { name: 'foray', title: 'Foray', version: FORAY_VERSION };
  const capabilities = { experimentalApi: true, optOutNotificationMethods: UNWANTED };
  await ask('initialize', { clientInfo, capabilities }, z.unknown());
  peer.notify('initialized');
  const { account, requiresOpenaiAuth } = await ask('account/read', {}, accountAnswer);
  if (account == null && handshake.apiKey)
    await ask('account/login/start', { type: 'apiKey', apiKey: handshake.apiKey }, z.unknown());
  else if (account == null && requiresOpenaiAuth) throw notLoggedIn();
  const resumed = await resumeThread(peer, handshake, signal);
  if (resumed !== null && resumed.id !== '') return resumed;
  const { thread, model } = await ask('thread/start', threadParams(handshake), threadAnswer);
  return { id: thread.id, isNew: true, model: model ?? null, notice: resumed?.notice ?? '' };
}

/** Null when there is nothing to resume. A thread that is lost is no failure: the id is empty then. */
async function resumeThread(peer: JsonRpcPeer, handshake: Handshake, signal: AbortSignal): Promise<Thread | null> {
  const threadId = handshake.request.resumeSessionId;
  if (!threadId) return null;
  // Without the turns of old the answer stays short.
  const params = { threadId, excludeTurns: true, ...threadParams(handshake) };
  try {
    const { thread, model } = threadAnswer.parse(await peer.request('thread/resume', params, { signal }));
    return { id: thread.id, isNew: false, model: model ?? null, notice: '' };
  } catch (error) {
    // An older version sends them all the same. The answer came, so the thread is open.
    if (error instanceof JsonRpcUnreadableError) return { id: threadId, isNew: false, model: null, notice: '' };
    if (!(error instanceof JsonRpcError || error instanceof z.ZodError)) throw error;
    const why = error instanceof JsonRpcError ? error.message : 'its answer cannot be read';
    return { id: '', isNew: true, model: null, notice: `cannot resume the conversation ${threadId}, a new one begins: ${why}` };
  }
}

function threadParams({ options, request }: Handshake): Record<string, unknown> {
  const { model, approval_policy: approvalPolicy, sandbox } = options;
  return { cwd: request.workspacePath, approvalPolicy, sandbox, ...(model === undefined ? {} : { model }) };
}

interface Demand<T> {
  readonly method: string;
  readonly params: unknown;
  readonly answer: z.ZodType<T>;
}

/** A request whose refusal ends the session before it began. */
async function demand<T>(peer: JsonRpcPeer, { method, params, answer }: Demand<T>, signal: AbortSignal): Promise<T> {
  try {
    return answer.parse(await peer.request(method, params, { signal }));
  } catch (error) {
    if (error instanceof JsonRpcError) throw refusal(method, error);
    if (error instanceof z.ZodError || error instanceof JsonRpcUnreadableError) {
      throw new AgentError({
        kind: 'agent_protocol_error',
        detail: `the answer of codex to ${method} cannot be read`,
        cause: error,
      });
    }
    throw error;
  }
}

function refusal(method: string, error: JsonRpcError): AgentError {
  const kind = method === 'account/login/start' ? 'agent_not_logged_in' : (kindOfText(error.message) ?? 'agent_protocol_error');
  const remedy = kind === 'agent_not_logged_in' ? `; ${LOGIN_REMEDY}` : '';
  return new AgentError({ kind, detail: `codex refused ${method}: ${error.message.slice(0, 1000)}${remedy}`, cause: error });
}

function notLoggedIn(): AgentError {
  return new AgentError({ kind: 'agent_not_logged_in', detail: `codex is not logged in: ${LOGIN_REMEDY}` });
}
