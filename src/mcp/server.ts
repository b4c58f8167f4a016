import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { createJsonRpcPeer, JsonRpcError, RPC_CODES, type JsonRpcPeer } from '../lib/json-rpc/index.ts';
import { titleFor } from './caller.ts';

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
  });
  const lines = createInterface({ input: options.input });
  lines.on('line', (line) => agent.receive(line));
  lines.on('error', () => {});
  await Promise.race([new Promise((resolve) => lines.once('close', resolve)), daemon.closed]);
  lines.close();
  daemon.end();
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
      return toolResult(await daemon.request('call', params, { timeoutMs: CALL_TIMEOUT_MS }));
    default:
      throw new JsonRpcError(RPC_CODES.methodNotFound, `unknown method ${method}`);
  }
}

function protocolVersion(params: unknown): string {
  const wanted = (params as { protocolVersion?: unknown } | null)?.protocolVersion;
  return PROTOCOL_VERSIONS.find((version) => version === wanted) ?? PROTOCOL_VERSIONS[0] ?? '';
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
