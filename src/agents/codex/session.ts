import { z } from 'zod';
import { AgentError } from '../../domain/model/errors.ts';
import type { Mask } from '../../lib/http/index.ts';
import type { AgentSettings } from '../../domain/model/settings.ts';
import { JsonRpcClosedError, JsonRpcError, JsonRpcUnreadableError, type JsonRpcPeer } from '../../lib/json-rpc/index.ts';
import type { AgentDeps, AgentSession, SessionRequest } from '../../ports/agent.ts';
import { connect, departureError, type AgentConnection } from '../shared/connection.ts';
import { createEventStream } from '../shared/event-stream.ts';
import { cancelled, failedTurn, masked } from '../shared/failures.ts';
import { aliveEvery, maskFor } from '../shared/run-environment.ts';
import { argsFor, envFor, KEY_VARIABLE } from './args.ts';
import { kindOfText, LOGIN_REMEDY } from './classify.ts';
import { createListener, type Listener } from './listener.ts';
import type { Options } from './options.ts';
import { accountAnswer, threadAnswer } from './parse.ts';
import { startPatience } from '../shared/patience.ts';
import { askedPerson, takeTurn } from './turn.ts';
import { watchTurn } from './turn-watch.ts';

export interface SessionParts {
  /** Program and arguments that stand before ours. */
  readonly command: readonly string[];
  readonly options: Options;
  readonly settings: AgentSettings;
  readonly deps: AgentDeps;
  readonly request: SessionRequest;
}

/** A conversation with Codex: one app server for all of its turns. */
export async function startSession(parts: SessionParts, signal: AbortSignal): Promise<AgentSession> {
  if (signal.aborted) throw cancelled();
  const { command, options, settings, deps, request } = parts;
  const mask = maskFor({ ...deps.env, ...request.toolServer?.env }, deps.secrets?.());
  const listener = createListener({ options, ownServer: request.toolServer?.name ?? null, now: () => deps.clock.now() });
  const connection = await connect({
    ...listener,
    envelope: 'bare',
    command: [...command, ...argsFor(request, deps.env)],
    env: envFor(deps.env, request),
    request,
    deps,
    stopGraceMs: settings.stopGraceMs,
    remedy: 'install Codex or name its program in agent.command',
  });
  const patience = AbortSignal.timeout(startPatience(settings));
  try {
    const handshake = { options, request, apiKey: deps.env[KEY_VARIABLE] };
    const thread = await openThread(connection.peer, handshake, AbortSignal.any([signal, patience]));
    return createSession(parts, { connection, listener, thread, mask });
  } catch (error) {
    const failure = await startFailure(error, { connection, signal, patience, settings });
    await connection.stop();
    throw failure instanceof AgentError ? masked(failure, mask) : failure;
  }
}

interface OpenSession {
  readonly connection: AgentConnection;
  readonly listener: Listener;
  readonly thread: Thread;
  readonly mask: Mask;
}

function createSession({ options, settings, deps, request }: SessionParts, open: OpenSession): AgentSession {
  const { connection, listener, thread, mask } = open;
  const over = new AbortController();
  let isAnnounced = false;
  let changedBefore = false;
  if (thread.isNew) listener.usage.threadBegan(thread.id);
  if (thread.model !== null) listener.usage.modelIs(thread.model);
  if (thread.notice !== '') listener.note(thread.notice);

  return {
    sessionId: thread.id,
    hasTools: request.toolServer !== null,
    async runTurn(turn, onEvent, signal) {
      const either = AbortSignal.any([signal, over.signal]);
      const events = createEventStream({ onEvent, mask, aliveMs: aliveEvery(settings) });
      const watch = watchTurn(thread.id, events);
      if (!isAnnounced) events.sessionStarted(thread.id, thread.model);
      isAnnounced = true;
      listener.beginTurn({ watch, events });
      try {
        const question = listener.question();
        if (question !== null) return failedTurn(askedPerson(question), mask);
        const { workspacePath } = request;
        const now = (): number => deps.clock.now();
        const parts = { connection, listener, watch, threadId: thread.id, workspacePath, options, settings, now, changedBefore };
        const error = await takeTurn(parts, turn.prompt, either);
        return error === null ? { ok: true } : failedTurn(error, mask);
      } finally {
        changedBefore ||= watch.evidence().changed;
        listener.endTurn();
        events.close();
      }
    },
    async stop() {
      over.abort();
      await connection.stop();
    },
  };
}

interface FailedStart {
  readonly connection: AgentConnection;
  readonly signal: AbortSignal;
  readonly patience: AbortSignal;
  readonly settings: AgentSettings;
}

async function startFailure(error: unknown, { connection, signal, patience, settings }: FailedStart): Promise<unknown> {
  if (signal.aborted) return cancelled();
  if (error instanceof JsonRpcClosedError) return departureError(await connection.over, 'codex');
  if (!patience.aborted) return error;
  const detail = `codex did not get ready within ${startPatience(settings)} ms`;
  return new AgentError({ kind: 'agent_protocol_error', detail, cause: error });
}

/** The conversation of a session. */
interface Thread {
  readonly id: string;
  readonly isNew: boolean;
  readonly model: string | null;
  /** What the operator should know about how it was opened; empty for nothing. */
  readonly notice: string;
}

interface Handshake {
  readonly options: Options;
  readonly request: SessionRequest;
  readonly apiKey: string | undefined;
}

/** Reports that repeat what others tell, some of them at great length. */
const UNWANTED = ['turn/diff/updated', 'item/fileChange/patchUpdated', 'item/fileChange/outputDelta', 'app/list/updated'];

/** From a fresh process to an open thread: introduce ourselves, log in, resume or begin. */
async function openThread(peer: JsonRpcPeer, handshake: Handshake, signal: AbortSignal): Promise<Thread> {
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
  return new AgentError({ kind, detail: `codex refused ${method}: ${error.message}${remedy}`, cause: error });
}

function notLoggedIn(): AgentError {
  return new AgentError({ kind: 'agent_not_logged_in', detail: `codex is not logged in: ${LOGIN_REMEDY}` });
}
