import { z } from 'zod';
import { AgentError } from '../../domain/model/errors.ts';
import { JsonRpcClosedError, JsonRpcError, RPC_CODES, type JsonRpcPeer } from '../../lib/json-rpc/index.ts';
import type { SessionRequest } from '../../ports/agent.ts';
import { jsonText, LONGEST_SESSION_ID } from '../shared/json.ts';
import { serverEntry } from './args.ts';
import { channelsFor, currentChoice, planChoice, type Channel, type ChoiceName } from './choices.ts';
import { complaintOf, kindOf, rpcError } from './classify.ts';
import type { Options } from './options.ts';
import { waysOf, type AgentWays } from './known-agents.ts';
import { initializeResult, PROTOCOL_VERSION, sessionSetup, type InitializeResult, type SessionSetup } from './parse.ts';

export interface HandshakeParts {
  readonly peer: JsonRpcPeer;
  readonly options: Options;
  readonly request: SessionRequest;
  readonly clock: { now(): number };
  /** How long one answer may take. */
  readonly timeoutMs: number;
  /** Waits until a conversation may be loaded, when this agent would lose it otherwise. */
  readonly beforeLoad: (sessionId: string, ways: AgentWays, signal: AbortSignal) => Promise<void>;
  /** Waits until a loaded conversation was repeated. */
  readonly afterLoad: (signal: AbortSignal) => Promise<void>;
}

/** An open session of the agent's own. */
export interface Opened {
  readonly sessionId: string;
  readonly model: string | undefined;
  readonly ways: AgentWays;
  readonly isResumed: boolean;
  readonly wasLoaded: boolean;
  readonly hasTools: boolean;
  /** What the operator should know, to be told with the first turn. */
  readonly notices: readonly string[];
}

/**
 * Agrees on the protocol, opens or continues a session, and makes the operator's choices. Throws an AgentError, or a
 * JsonRpcClosedError when the agent ended meanwhile.
 */
export async function openSession(parts: HandshakeParts, signal: AbortSignal): Promise<Opened> {
  const agent = await initialize(parts, signal);
  const ask = createAsk(parts, agent, signal);
  const ways = waysOf(agent.agentInfo?.name);
  if (parts.options.permission === 'deny' && !ways.asks) throw cannotDeny(agent.agentInfo?.name ?? 'this agent');
  const notices: string[] = [];
  const servers = serversFor(parts, ways, notices);
  const place = { cwd: parts.request.workspacePath, mcpServers: servers };
  const continued = await continueSession({ parts, agent, ways, ask, place, notices }, signal);
  const setup = continued?.setup ?? (await ask('session/new', place, sessionSetup));
  const sessionId = continued?.sessionId ?? usableId(setup.sessionId);
  const model = await choose('model', parts.options.model, { sessionId, setup, ask, notices });
  await choose('mode', parts.options.mode, { sessionId, setup, ask, notices });
  const { wasLoaded = false } = continued ?? {};
  return { sessionId, model, ways, isResumed: continued !== null, wasLoaded, hasTools: servers.length > 0, notices };
}

function usableId(id = ''): string {
  if (id === '') throw protocolError('session/new gave no session id');
  if (id.length > LONGEST_SESSION_ID) throw protocolError(`session/new gave a session id of ${id.length} characters`);
  return id;
}

/** With `onRefused` a refusal is an answer, unless the agent is not logged in or over its limit. */
type Ask = <T>(method: string, params: unknown, schema: z.ZodType<T>, onRefused?: (reason: JsonRpcError) => T) => Promise<T>;

async function initialize(parts: HandshakeParts, signal: AbortSignal): Promise<InitializeResult> {
  const params = {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'foray', version: FORAY_VERSION },
  };
  const agent = await createAsk(parts, null, signal)('initialize', params, initializeResult);
  if (agent.protocolVersion === PROTOCOL_VERSION) return agent;
  const theirs = jsonText(agent.protocolVersion) || 'none';
  throw protocolError(`the agent speaks version ${theirs.slice(0, 100)} of the protocol and not version ${PROTOCOL_VERSION}`);
}

/** Asks, and turns what goes wrong into an AgentError that names the request. */
function createAsk(parts: HandshakeParts, agent: InitializeResult | null, signal: AbortSignal): Ask {
  const logins = agent?.authMethods.map(({ name, description }) => description ?? name) ?? [];
  return async (method, params, schema, onRefused) => {
    let answer: unknown;
    try {
      answer = await parts.peer.request(method, params, { timeoutMs: parts.timeoutMs, signal });
    } catch (error) {
      if (signal.aborted || error instanceof JsonRpcClosedError) throw error;
      if (onRefused && error instanceof JsonRpcError && kindOf(complaintOf(error)) === null) return onRefused(error);
      throw rpcError(error, { what: `${method} failed`, now: parts.clock.now(), otherwise: 'agent_protocol_error', logins });
    }
    const read = schema.safeParse(answer);
    if (!read.success) throw protocolError(`the answer to ${method} is not what the protocol asks for`);
    return read.data;
  };
}

/** The tools for the issue, as the protocol lists servers. */
function serversFor({ options, request }: HandshakeParts, ways: AgentWays, notices: string[]): readonly unknown[] {
  const server = options.mcp ? request.toolServer : null;
  if (server === null) return [];
  if (!ways.takesTools) {
    notices.push('this agent takes no tool server that is a program: it works without the tools for its issue');
    return [];
  }
  return [serverEntry(server)];
}

interface Continuing {
  readonly parts: HandshakeParts;
  readonly agent: InitializeResult;
  readonly ways: AgentWays;
  readonly ask: Ask;
  readonly place: { readonly cwd: string; readonly mcpServers: readonly unknown[] };
  readonly notices: string[];
}

interface Continued {
  readonly sessionId: string;
  readonly setup: SessionSetup;
  readonly wasLoaded: boolean;
}

/** The conversation that is to go on, or null when there is none or it is lost. */
async function continueSession(continuing: Continuing, signal: AbortSignal): Promise<Continued | null> {
  const { parts, agent, ways, ask, place, notices } = continuing;
  const sessionId = parts.request.resumeSessionId;
  if (sessionId === null || sessionId === '') return null;
  const { loadSession: wasLoaded = false, sessionCapabilities } = agent.agentCapabilities ?? {};
  if (!wasLoaded && !sessionCapabilities?.resume) {
    notices.push('this agent cannot continue a conversation: a new one begins');
    return null;
  }
  if (wasLoaded) await parts.beforeLoad(sessionId, ways, signal);
  const method = wasLoaded ? 'session/load' : 'session/resume';
  const setup = await ask(method, { sessionId, ...place }, continuedSetup, (reason) => {
    notices.push(`the earlier conversation is lost and a new one begins: ${complaintOf(reason).text}`);
    return null;
  });
  if (setup === null) return null;
  if (wasLoaded) await parts.afterLoad(signal);
  return { sessionId, setup, wasLoaded };
}

/** Some agents answer a load with null or nothing. */
const continuedSetup: z.ZodType<SessionSetup | null> = sessionSetup.or(z.null().transform(() => sessionSetup.parse({})));

interface Choosing {
  readonly sessionId: string;
  readonly setup: SessionSetup;
  readonly ask: Ask;
  readonly notices: string[];
}

/** Makes a choice of the operator. Returns what is chosen now, where that is known. */
async function choose(what: ChoiceName, wanted: string | undefined, choosing: Choosing): Promise<string | undefined> {
  const { sessionId, setup, ask, notices } = choosing;
  if (wanted === undefined) return currentChoice(what, setup);
  for (const { channel, value, isListed } of planChoice(channelsFor(what, setup), wanted)) {
    const params = { sessionId, ...channel.params(value) };
    const isChosen = await ask(channel.method, params, anything, (reason) => {
      if (reason.code === RPC_CODES.methodNotFound) return false;
      throw protocolError(`the agent does not take the ${what} ${wanted}: ${complaintOf(reason).text}${offered(channel)}`);
    });
    if (!isChosen) continue;
    if (!isListed) notices.push(`the agent does not list the ${what} ${wanted}, but did not refuse it${offered(channel)}`);
    return value;
  }
  notices.push(`this agent does not let its ${what} be chosen: acp.${what} has no effect`);
  return currentChoice(what, setup);
}

const anything = z.unknown().transform(() => true);
const SHOWN_OFFERS = 20;

function offered({ offers }: Channel): string {
  if (offers.length === 0) return '';
  const values = offers.slice(0, SHOWN_OFFERS).map(({ value }) => value);
  return `; it offers ${values.join(', ')}${offers.length > SHOWN_OFFERS ? ' and more' : ''}`;
}

function cannotDeny(name: string): AgentError {
  const remedy = 'restrict it in its own configuration and set acp.permission to allow';
  return protocolError(`${name} does not ask before it acts, so acp.permission: deny has no effect on it; ${remedy}`);
}

function protocolError(detail: string): AgentError {
  return new AgentError({ kind: 'agent_protocol_error', detail });
}
