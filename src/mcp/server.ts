import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { createJsonRpcPeer, JsonRpcError, RPC_CODES, type JsonRpcPeer } from '../lib/json-rpc/index.ts';
import { titleFor } from './caller.ts';
import { LONGEST_CALL } from './tools.ts';

export interface McpServerOptions {
  readonly socketPath: string;
  readonly token: string;
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
}

/** Versions of the Model Context Protocol this server speaks; an unknown one is answered with the newest. */
const PROTOCOL_VERSIONS = ['2025-06-18', '2025-03-26', '2024-11-05'];
const CALL_TIMEOUT_MS = 120_000;
/** Only so that an end is set: the memory is the agent's own, and what can be read is answered by name. */
const LONGEST_MESSAGE = 64 * 1024 * 1024;

/**
 * A Model Context Protocol server over stdio. It holds no credential of the tracker: every call is passed to the
 * daemon that started the run. Resolves when the agent closes its end or the daemon goes away.
 */
export async function serveMcp(options: McpServerOptions): Promise<void> {
  const daemon = await connectToDaemon(options.socketPath);
  const tools = await introduce(daemon.peer, options.token);
  const agent = createJsonRpcPeer({
    envelope: 'jsonrpc',
    send: (line) => void options.output.write(`${line}\n`),
    onNotification: () => {},
    onRequest: (method, params) => answer(method, params, tools, daemon.peer, options.version),
    maxLineLength: LONGEST_MESSAGE,
  });
  const lines = createInterface({ input: options.input });
  lines.on('line', (line) => {
    const refusal = refusalOf(line);
    if (refusal === null) agent.receive(line);
    else options.output.write(`${JSON.stringify(refusal)}\n`);
  });
  lines.on('error', () => {});
  await Promise.race([new Promise((resolve) => lines.once('close', resolve)), daemon.closed]);
  lines.close();
  daemon.end();
}

/**
 * What a line that is no message is answered with, see https://www.jsonrpc.org/specification#response_object. Here that is
 * a client's mistake which it would wait on; the agents that we start write other things between their messages.
 */
function refusalOf(line: string): object | null {
  if (line.trim() === '') return null;
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return refusal(null, RPC_CODES.parseError, 'the line is not JSON');
  }
  if (Array.isArray(message)) return refusal(null, RPC_CODES.invalidRequest, 'batches are not taken: send one message a line');
  if (typeof message !== 'object' || message === null) return refusal(null, RPC_CODES.invalidRequest, 'the line is no message');
  const { id, method } = message as Readonly<Record<string, unknown>>;
  const isNamed = typeof id === 'string' || typeof id === 'number';
  if (id !== undefined && !isNamed) return refusal(null, RPC_CODES.invalidRequest, 'the id must be a text or a number');
  if (typeof method === 'string' || 'result' in message || 'error' in message) return null;
  return refusal(isNamed ? id : null, RPC_CODES.invalidRequest, 'the message has no method');
}

function refusal(id: string | number | null, code: number, message: string): object {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** Shows the run's token, and proves by its title that it is this process that does so. Gives back the tools. */
async function introduce(daemon: JsonRpcPeer, token: string): Promise<unknown> {
  const timeoutMs = CALL_TIMEOUT_MS;
  const { word } = (await daemon.request('hello', { token, pid: process.pid }, { timeoutMs })) as { word: string };
  process.title = titleFor(word);
  const { tools } = (await daemon.request('prove', {}, { timeoutMs })) as { tools: unknown };
  return tools;
}

async function answer(method: string, params: unknown, tools: unknown, daemon: JsonRpcPeer, version: string): Promise<unknown> {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: protocolVersion(params),
        capabilities: { tools: {} },
        serverInfo: { name: 'foray', version },
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools };
    case 'tools/call':
      return toolResult(await callTool(params, daemon));
    default:
      throw new JsonRpcError(RPC_CODES.methodNotFound, `unknown method ${method}`);
  }
}

function protocolVersion(params: unknown): string {
  const wanted = (params as { protocolVersion?: unknown } | null)?.protocolVersion;
  return PROTOCOL_VERSIONS.find((version) => version === wanted) ?? PROTOCOL_VERSIONS[0] ?? '';
}

/** One that is too long would cost the connection, and with it every later call of the session. */
async function callTool(params: unknown, daemon: JsonRpcPeer): Promise<unknown> {
  const length = JSON.stringify(params ?? null).length;
  if (length > LONGEST_CALL) return { ok: false, error: `a call may have ${LONGEST_CALL} characters, this one has ${length}` };
  return daemon.request('call', params, { timeoutMs: CALL_TIMEOUT_MS });
}

function toolResult(answered: unknown): unknown {
  const result = answered as { ok: boolean; data?: unknown; error?: string };
  const text = result.ok ? JSON.stringify(result.data) : `Error: ${result.error ?? 'unknown'}`;
  return { content: [{ type: 'text', text }], isError: !result.ok };
}

async function connectToDaemon(socketPath: string): Promise<{ peer: JsonRpcPeer; closed: Promise<void>; end(): void }> {
  const socket = connect(socketPath);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  const peer = createJsonRpcPeer({
    envelope: 'jsonrpc',
    send: (line) => void socket.write(`${line}\n`),
    onNotification: () => {},
    onRequest: (method) => {
      throw new JsonRpcError(RPC_CODES.methodNotFound, `unknown method ${method}`);
    },
  });
  const lines = createInterface({ input: socket });
  lines.on('line', (line) => peer.receive(line));
  // A lost connection is told by the socket; unheard, this copy of the error would end the process.
  lines.on('error', () => {});
  const closed = new Promise<void>((resolve) => {
    socket.on('error', () => resolve());
    socket.once('close', () => {
      peer.close('the service is gone');
      resolve();
    });
  });
  return { peer, closed, end: () => socket.end() };
}
