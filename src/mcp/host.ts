import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { AgentStatus } from '../domain/model/agent-status.ts';
import { createJsonRpcPeer, JsonRpcError, RPC_CODES } from '../lib/json-rpc/index.ts';
import type { ToolServer } from '../ports/agent.ts';
import type { Logger } from '../ports/runtime.ts';
import { createCalls, faultText, type CallTool, type RunContext } from './calls.ts';
import { TOOL_NAMES, TOOLS, type ToolName } from './tools.ts';

/**
 * Where the tools of running agents are carried out: in the daemon, which holds the tracker's credentials. An agent's
 * tool server is a thin program that knows only this socket and the token of its own run.
 */
export interface ToolHost {
  /** Opens the tools of a run and says how its agent starts them. */
  open(context: Omit<RunContext, 'declare'>): ToolServer;
  /** What the agent said by `finish`, or null. */
  statusOf(runId: string): AgentStatus | null;
  close(runId: string): void;
  stop(): Promise<void>;
}

export interface ToolHostOptions {
  readonly logger: Logger;
  /** The command that becomes a tool server, such as node and our own program. */
  readonly command: string;
  readonly args: readonly string[];
  /** Names the socket's folder: the next daemon of the same scope takes over what a crash left. */
  readonly scope: string;
}

interface OpenRun {
  readonly token: string;
  readonly call: CallTool;
  status: AgentStatus | null;
  readonly over: AbortController;
}

export async function startToolHost(options: ToolHostOptions): Promise<ToolHost> {
  const directory = await privateDirectory(options.scope);
  const socketPath = path.join(directory, 'socket');
  const runs = new Map<string, OpenRun>();
  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    serve(socket, (token) => find(runs, token), options.logger);
  });
  await listenOn(server, socketPath);
  return {
    open(context) {
      const { runId } = context.plan;
      const run: OpenRun = {
        token: randomBytes(24).toString('hex'),
        status: null,
        over: new AbortController(),
        call: createCalls({ ...context, declare: (status) => (run.status = status) }),
      };
      runs.set(runId, run);
      const { command, args } = options;
      return { name: 'foray', command, args, env: { FORAY_TOOL_SOCKET: socketPath, FORAY_TOOL_TOKEN: run.token } };
    },
    statusOf: (runId) => runs.get(runId)?.status ?? null,
    close(runId) {
      runs.get(runId)?.over.abort(new Error('the run is over'));
      runs.delete(runId);
    },
    async stop() {
      for (const run of runs.values()) run.over.abort(new Error('the service stops'));
      for (const socket of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A folder that only we can enter. One that somebody else made in our name is left alone. */
async function privateDirectory(scope: string): Promise<string> {
  const hash = createHash('sha256').update(scope).digest('hex').slice(0, 12);
  const wanted = path.join(os.tmpdir(), `foray-tools-${hash}`);
  try {
    await rm(wanted, { recursive: true, force: true });
    await mkdir(wanted, { mode: 0o700 });
    return wanted;
  } catch {
    return mkdtemp(path.join(os.tmpdir(), 'foray-tools-'));
  }
}

/** One connection speaks for one run: it must show the run's token first. */
function serve(socket: Socket, findRun: (token: string) => OpenRun | null, logger: Logger): void {
  let run: OpenRun | null = null;
  const peer = createJsonRpcPeer({
    envelope: 'jsonrpc',
    send: (line) => void socket.write(`${line}\n`),
    onNotification: () => {},
    onRequest: async (method, params) => {
      const fields = asRecord(params);
      if (method === 'hello') {
        run = findRun(String(fields['token']));
        if (run === null) throw new JsonRpcError(RPC_CODES.invalidRequest, 'no run has this token');
        return { tools: TOOLS.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })) };
      }
      if (method !== 'call' || run === null) throw new JsonRpcError(RPC_CODES.methodNotFound, 'say hello first');
      return callTool(run, fields, logger);
    },
  });
  createInterface({ input: socket }).on('line', (line) => peer.receive(line));
  socket.on('error', (error) => logger.debug('a tool connection failed', { error: error.message }));
  socket.once('close', () => peer.close('the connection is closed'));
}

async function callTool(run: OpenRun, fields: Readonly<Record<string, unknown>>, logger: Logger): Promise<unknown> {
  const name = TOOL_NAMES.find((candidate) => candidate === fields['name']) as ToolName | undefined;
  if (!name) throw new JsonRpcError(RPC_CODES.invalidParams, `unknown tool ${String(fields['name'])}`);
  try {
    return { ok: true, data: await run.call(name, asRecord(fields['arguments']), run.over.signal) };
  } catch (error) {
    logger.debug('a tool call failed', { tool: name, error: error instanceof Error ? error.message : String(error) });
    return { ok: false, error: faultText(error) };
  }
}

function find(runs: ReadonlyMap<string, OpenRun>, token: string): OpenRun | null {
  const given = Buffer.from(token);
  for (const run of runs.values()) {
    const wanted = Buffer.from(run.token);
    if (given.length === wanted.length && timingSafeEqual(given, wanted)) return run;
  }
  return null;
}

function listenOn(server: Server, socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
