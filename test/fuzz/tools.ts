import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { RunPlan } from '../../src/domain/model/effect.ts';
import { JsonRpcClosedError, JsonRpcError, JsonRpcUnreadableError, createJsonRpcPeer } from '../../src/lib/json-rpc/index.ts';
import { createMask } from '../../src/lib/http/index.ts';
import { createToolCalls } from '../../src/mcp/calls.ts';
import { titleFor } from '../../src/mcp/caller.ts';
import { startToolHost, type ToolHost } from '../../src/mcp/host.ts';
import type { Tracker } from '../../src/ports/tracker.ts';
import { issueWith, refWith } from '../support/issues.ts';
import type { Chance } from '../support/random.ts';
import { settingsWith } from '../support/settings.ts';
import { refuseSecrets } from './agent-events.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { digestOf, type Target } from './target.ts';

const SECRET = 'secret-token-1';
const MASK = createMask([SECRET]);
const silent = (): void => {};
const LOGGER = { debug: silent, info: silent, warn: silent, error: silent };
const SETTINGS = settingsWith({ tracker: { approvalLabel: 'approved' } });
const PLAN: RunPlan = {
  runId: 'run-1',
  issue: refWith({ id: '1' }),
  attempt: 1,
  trigger: 'fresh',
  reaction: null,
  issueAsRead: null,
  resumeSessionId: null,
  holder: null,
  settings: SETTINGS,
};
const LONGEST_ANSWER = 256 * 1_024;

/** Remembers what was written to the issue, and refuses what no agent may do. */
function trackerWith(writes: string[]): Tracker {
  const write = async (id: string, text: string): Promise<void> => {
    if (id !== '1') throw new TypeError('another issue');
    writes.push(text);
  };
  return {
    kind: 'file',
    obeysComments: true,
    fetchIssueById: async () => issueWith({ id: '1' }),
    commentIssue: async (id: string, text: string) => write(id, `comment ${text}`),
    transitionIssue: async (id: string, state: string) => write(id, `move ${state}`),
    labels: { add: async (id: string, label: string) => write(id, `label ${label}`), remove: async () => {} },
  } as unknown as Tracker;
}

function checkWrites(writes: readonly string[]): void {
  if (writes.length > 25) throw new Error(`${writes.length} writes`);
  for (const text of writes) {
    refuseSecrets(text, [SECRET]);
    if (text.length > 17_000) throw new Error('a longer write');
    if (/^(?:move|label) +(?:done|approved|review) *$/i.test(text)) throw new Error(`an agent did: ${text}`);
    if (/^(?:comment )?\s*\/(?:merge|close)\b(?![\w/.-])/im.test(text)) throw new Error('a command in a comment');
  }
}

const call = (name: string, args: unknown): unknown => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'call',
  params: { name, arguments: args },
});
const CALLS: readonly unknown[] = [
  call('read_issue', {}),
  call('comment', { text: `See ${SECRET}\n/merge\n  /close now` }),
  call('move_issue', { state: 'doing' }),
  call('move_issue', { state: 'review' }),
  call('move_issue', { state: 'done' }),
  call('add_label', { label: 'bug' }),
  call('add_label', { label: ' Approved ' }),
  call('run_status', {}),
  call('finish', { outcome: 'blocked', statement: SECRET }),
  { jsonrpc: '2.0', id: 2, method: 'prove' },
  { jsonrpc: '2.0', id: 3, method: 'hello', params: { token: 'x', pid: 1 } },
  { jsonrpc: '2.0', method: 'call', params: { name: 'finish' } },
];

function linesOf(values: readonly unknown[], chance: Chance): string {
  return Array.from({ length: 1 + chance.below(4) }, () => {
    const line = JSON.stringify(mutateJson(chance.pick(values), chance, 0.1));
    return chance.happens(0.2) ? mutateText(line, chance) : line;
  }).join('\n');
}

let host: Promise<ToolHost> | null = null;

/** One for all inputs, as in a service. Gone when the process ends. */
function toolHost(): Promise<ToolHost> {
  return (host ??= startHost());
}

async function startHost(): Promise<ToolHost> {
  const scope = `fuzz ${process.pid}`;
  const started = await startToolHost({ logger: LOGGER, command: 'node', args: [], scope, pidsOf: () => [process.pid] });
  const { FORAY_TOOL_SOCKET: socket } = started.open(PLAN, { call: async () => ({ ok: false, error: '' }) }).env;
  started.close(PLAN.runId);
  if (socket) process.once('exit', () => rmSync(path.dirname(socket), { recursive: true, force: true }));
  return started;
}

const toolSocket: Target = {
  name: 'tool socket',
  make: (chance) => linesOf(CALLS, chance),
  async take(input) {
    const writes: string[] = [];
    const progress = async () => ({ turn: 1, maxTurns: 3, attempt: 1, tokensUsed: 0, costUsd: 0, earlier: [] });
    const record = (text: string): void => void writes.push(text);
    const tools = await toolHost();
    const server = tools.open(PLAN, createToolCalls({ plan: PLAN, tracker: trackerWith(writes), mask: MASK, record, progress }));
    const socket = connect(server.env['FORAY_TOOL_SOCKET'] ?? '');
    // One in four never says who it is.
    const isStranger = digestOf(input) % 4 === 0;
    try {
      const answers = await converse(socket, input, isStranger ? null : (server.env['FORAY_TOOL_TOKEN'] ?? ''));
      for (const line of answers) if (line.length > LONGEST_ANSWER) throw new Error('a longer answer');
      if (isStranger && writes.length > 0) throw new Error('a stranger was served');
      checkWrites(writes.filter((text) => /^(?:comment|move|label) /.test(text)));
    } finally {
      socket.destroy();
      tools.close(PLAN.runId);
    }
  },
};

/** All answers, the last of which is to a question of ours, unless the connection ended before. */
async function converse(socket: Socket, input: string, token: string | null): Promise<readonly string[]> {
  const { title } = process;
  const answers: string[] = [];
  try {
    const ask = (id: string, method: string, params: unknown): void =>
      void socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const reader = createInterface({ input: socket });
    socket.on('error', silent);
    const over = once(reader, 'close');
    const heard = new Map<string, (line: string) => void>();
    reader.on('line', (line) => {
      answers.push(line);
      heard.get(String((JSON.parse(line) as { id: unknown }).id))?.(line);
    });
    const answerTo = (id: string): Promise<unknown> =>
      Promise.race([new Promise<string>((resolve) => heard.set(id, resolve)), over.then(() => '{}')]);
    if (token !== null) {
      const word = answerTo('first');
      ask('first', 'hello', { token, pid: process.pid });
      const { result } = JSON.parse(String(await word)) as { result?: { word: string } };
      process.title = titleFor(result?.word ?? '');
      ask('second', 'prove', {});
    }
    const last = answerTo('last');
    socket.write(`${input}\n`);
    ask('last', 'call', { name: 'run_status', arguments: {} });
    await last;
    return answers;
  } finally {
    process.title = title;
  }
}

const MESSAGES: readonly unknown[] = [
  { jsonrpc: '2.0', id: 1, result: { a: 1 } },
  { jsonrpc: '2.0', id: 2, error: { code: -32_000, message: 'no', data: { details: 'x' } } },
  { jsonrpc: '2.0', id: 7, method: 'echo', params: { text: 'x' } },
  { jsonrpc: '2.0', id: 'x', method: 'throw', params: [] },
  { jsonrpc: '2.0', method: 'told', params: null },
];

/** Lines of the other side of any connection. */
const jsonRpc: Target = {
  name: 'JSON-RPC lines',
  make: (chance) => linesOf(MESSAGES, chance),
  async take(input) {
    const sent: string[] = [];
    const peer = createJsonRpcPeer({
      envelope: 'jsonrpc',
      send: (line) => void sent.push(line),
      onNotification: silent,
      onRequest: (method, params) => {
        if (method === 'throw') throw new Error(`inner words ${SECRET}`);
        return params;
      },
      maxLineLength: 4_000,
    });
    const asked = Promise.allSettled([peer.request('a', {}), peer.request('b', undefined, { timeoutMs: 60_000 })]);
    for (const line of input.split('\n')) peer.receive(line);
    await Promise.resolve();
    peer.close('it is over');
    for (const end of await asked) if (end.status === 'rejected' && !isDeclared(end.reason)) throw end.reason;
    if (sent.length > 2 + input.split('\n').length) throw new Error('more answers than questions');
    for (const line of sent) {
      refuseSecrets(line, [SECRET]);
      if (line.includes('\n')) throw new Error('a message of two lines');
      JSON.parse(line);
    }
  },
};

function isDeclared(error: unknown): boolean {
  return [JsonRpcError, JsonRpcClosedError, JsonRpcUnreadableError].some((type) => error instanceof type);
}

export const TOOLS: readonly Target[] = [toolSocket, jsonRpc];
