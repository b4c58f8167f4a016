import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, chownSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import type { AgentStatus } from '../domain/model/agent-event.ts';
import { createJsonRpcPeer, JsonRpcError, RPC_CODES } from '../lib/json-rpc/index.ts';
import type { RunPlan } from '../domain/model/effect.ts';
import type { ToolServer } from '../ports/agent.ts';
import type { ToolCalls } from '../ports/runner.ts';
import type { Logger } from '../ports/runtime.ts';
import { isCallerOf, type PidsOf } from './caller.ts';
import { privateDirectory } from './private-directory.ts';
import { TOOL_NAMES, TOOLS } from './tools.ts';

/**
 * Where the tools of running agents are called. They are carried out in the daemon, which holds the tracker's credentials;
 * on a worker the calls are passed on to it. An agent's tool server is a thin program that knows only this socket and the
 * token of its own run.
 */
export interface ToolHost {
  /** Opens the tools of a run and says how its agent starts them. */
  open(plan: RunPlan, calls: ToolCalls): ToolServer;
  /** What the agent said by `finish` or by a move to the handoff state, or null. */
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
  readonly pidsOf: PidsOf;
}

interface OpenRun {
  readonly id: string;
  readonly token: string;
  readonly calls: ToolCalls;
  /** Those that have proven themselves and are open. */
  readonly connections: Set<Socket>;
  status: AgentStatus | null;
  readonly over: AbortController;
}

/** An agent needs one or two; one that opens more has lost count of them, or wants to harm others. */
export const MOST_OF_RUN = 32;
/** So many may be about to prove themselves at one time; more than this are not ours. Agents have no such limit. */
export const MOST_STRANGERS = 256;

export async function startToolHost(options: ToolHostOptions): Promise<ToolHost> {
  const directory = await privateDirectory(options.scope);
  const socketPath = path.join(directory, 'socket');
  const runs = new Map<string, OpenRun>();
  const connections = new Set<Socket>();
  const strangers = new Set<Socket>();
  const server = createServer((socket) => {
    if (strangers.size >= MOST_STRANGERS) return void socket.destroy();
    for (const set of [connections, strangers]) {
      set.add(socket);
      socket.once('close', () => set.delete(socket));
    }
    serve(socket, runs, options, () => strangers.delete(socket));
  });
  await listenOn(server, socketPath);
  chmodSync(socketPath, 0o600);
  return {
    open(plan, calls) {
      const token = randomBytes(24).toString('hex');
      runs.set(plan.runId, { id: plan.runId, token, calls, connections: new Set(), status: null, over: new AbortController() });
      const { user } = plan.settings.agent;
      if (user) letUse(directory, socketPath, user);
      const { command, args } = options;
      return { name: 'foray', command, args, env: { FORAY_TOOL_SOCKET: socketPath, FORAY_TOOL_TOKEN: token } };
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

/**
 * Another user gets the socket and may pass through its folder. The folder stays ours: who can put a link in the socket's place
 * would be given what the link names.
 */
function letUse(directory: string, socketPath: string, user: { readonly uid: number; readonly gid: number }): void {
  chmodSync(directory, 0o711);
  chownSync(socketPath, user.uid, user.gid);
}

/** A stranger may say no more than a token takes; a run no more than its longest call. */
const LONGEST_HELLO = 1_024;
const LONGEST_LINE = 256 * 1_024;
const HELLO_MS = 10_000;

/**
 * One connection speaks for one run. It shows the run's token (`hello`), is told a word, and proves with it that it is
 * a process of that run (`prove`). Until then next to nothing is kept of what it sends.
 */
function serve(
  socket: Socket,
  runs: ReadonlyMap<string, OpenRun>,
  { logger, pidsOf }: ToolHostOptions,
  onProven: () => void,
): void {
  let known: { readonly run: OpenRun; readonly pid: number; readonly word: string } | null = null;
  let isProven = false;
  const late = setTimeout(() => socket.destroy(), HELLO_MS).unref();

  function hello(fields: Fields): object {
    if (isProven) throw new JsonRpcError(RPC_CODES.invalidRequest, 'this connection speaks for another run');
    const run = find(runs, String(fields['token']));
    if (run === null) throw new JsonRpcError(RPC_CODES.invalidRequest, 'no run has this token');
    known = { run, pid: Number(fields['pid']), word: randomBytes(8).toString('hex') };
    return { word: known.word };
  }

  function prove(): object {
    if (known === null) throw new JsonRpcError(RPC_CODES.methodNotFound, 'say hello first');
    if (!isCallerOf(known.run.id, known, pidsOf)) {
      logger.warn('a process that is not of the run showed the token of its tools', { run_id: known.run.id, pid: known.pid });
      throw new JsonRpcError(RPC_CODES.invalidRequest, 'this token belongs to another session');
    }
    keepOpen(known.run, socket);
    isProven = true;
    clearTimeout(late);
    onProven();
    return { tools: TOOLS.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })) };
  }

  const peer = createJsonRpcPeer({
    envelope: 'jsonrpc',
    send: (line) => void socket.write(`${line}\n`),
    onNotification: () => {},
    onRequest: (method, params) => {
      if (method === 'hello') return hello(asRecord(params));
      if (method === 'prove') return prove();
      if (method !== 'call' || known === null || !isProven) throw new JsonRpcError(RPC_CODES.methodNotFound, 'say hello first');
      return callTool(known.run, asRecord(params), logger);
    },
  });
  readLines(
    socket,
    () => (isProven ? LONGEST_LINE : LONGEST_HELLO),
    (line) => peer.receive(line),
  );
  socket.on('error', (error) => logger.debug('a tool connection failed', { error: error.message }));
  socket.once('close', () => {
    clearTimeout(late);
    peer.close('the connection is closed');
  });
}

function keepOpen({ connections }: OpenRun, socket: Socket): void {
  if (connections.size >= MOST_OF_RUN)
    throw new JsonRpcError(RPC_CODES.invalidRequest, `this session has ${MOST_OF_RUN} connections open: close some of them`);
  connections.add(socket);
  socket.once('close', () => connections.delete(socket));
}

/** Hands over whole lines. A line that exceeds the limit ends the connection. */
function readLines(socket: Socket, limit: () => number, onLine: (line: string) => void): void {
  let held = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    held += chunk;
    for (let end = held.indexOf('\n'); end !== -1 && end <= limit(); end = held.indexOf('\n')) {
      onLine(held.slice(0, end));
      held = held.slice(end + 1);
    }
    if (held.length > limit()) socket.destroy();
  });
}

async function callTool(run: OpenRun, fields: Fields, logger: Logger): Promise<unknown> {
  const name = TOOL_NAMES.find((candidate) => candidate === fields['name']);
  if (!name) throw new JsonRpcError(RPC_CODES.invalidParams, `unknown tool ${String(fields['name'])}`);
  const answer = await run.calls.call(name, asRecord(fields['arguments']), run.over.signal);
  if (!answer.ok) {
    logger.debug('a tool call failed', { run_id: run.id, tool: name, error: answer.error });
    return answer;
  }
  run.status = answer.status ?? run.status;
  return { ok: true, data: answer.data };
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

type Fields = Readonly<Record<string, unknown>>;

function asRecord(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
