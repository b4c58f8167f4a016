import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { anthropic } from './dialects/anthropic.ts';
import {
  FAILING,
  recordOf,
  type Dialect,
  type Figures,
  type JsonRecord,
  type ModelRequest,
  type Reply,
} from './dialects/dialect.ts';
import { chat, DONE } from './dialects/chat.ts';
import { gemini } from './dialects/gemini.ts';
import { responses } from './dialects/responses.ts';
import { cuesIn, nextMove, type Cue } from './scripted-model.ts';

const LOOPBACK = '127.0.0.1';
const DIALECTS: readonly Dialect[] = [anthropic, chat, gemini, responses];

/** One request to the model. */
export interface Exchange {
  /** The cues of the script that the conversation holds; the last one is what was asked. Empty for a request outside the script. */
  readonly cues: readonly Cue[];
  /** What the answer cost; null when there was none. */
  readonly figures: Figures | null;
}

/** The model APIs of all vendors on one port of the loopback device, with a scripted model behind them. */
export interface ModelApi {
  readonly url: string;
  /** Everything that was asked and belongs to the script in this folder. */
  exchanges(folder: string): readonly Exchange[];
  /** What a program asked that nobody here understands, and hosts it wanted to reach through the proxy. */
  readonly surprises: string[];
  stop(): Promise<void>;
}

export async function startModelApi(): Promise<ModelApi> {
  const asked: Exchange[] = [];
  const surprises: string[] = [];
  const server = createServer((incoming, outgoing) => {
    void bodyOf(incoming)
      .then((body) => answer(incoming, body, { asked, surprises }))
      .then((reply) => reply && send(outgoing, reply))
      .catch((error: unknown) => {
        surprises.push(String(error));
        void send(outgoing, { status: 400, json: { error: { message: String(error) } } });
      });
  });
  // Every program is told to use this as its proxy, so whatever leaves the loopback device ends here.
  server.on('connect', (incoming, socket) => {
    socket.on('error', () => {});
    const { hostname, port } = new URL(`http://${incoming.url}`);
    if (hostname === LOOPBACK) return tunnel(socket, Number(port));
    surprises.push(`CONNECT ${incoming.url}`);
    return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  server.on('upgrade', (_incoming, socket) => socket.end('HTTP/1.1 404 Not Found\r\n\r\n'));
  await new Promise<void>((resolve) => void server.listen(0, LOOPBACK, resolve));
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    exchanges: (folder) => asked.filter(({ cues }) => cues.at(-1)?.folder === folder),
    surprises,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Some programs ask their proxy for the loopback device too. */
function tunnel(socket: Duplex, port: number): void {
  const inner = connect(port, LOOPBACK, () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'));
  inner.on('error', () => socket.destroy());
  socket.on('close', () => inner.destroy());
  inner.pipe(socket).pipe(inner);
}

interface Recorded {
  readonly asked: Exchange[];
  readonly surprises: string[];
}

/** Null leaves the request without an answer. */
function answer(incoming: IncomingMessage, body: JsonRecord, recorded: Recorded): Reply | null {
  const { hostname, pathname } = new URL(incoming.url ?? '/', `http://${LOOPBACK}`);
  const isHere = hostname === LOOPBACK;
  const dialect = isHere && incoming.method === 'POST' ? DIALECTS.find(({ matches }) => matches(pathname)) : undefined;
  if (dialect) return play(dialect, dialect.read(body, pathname), recorded);
  const known = isHere ? SMALL_TALK.find(({ matches }) => matches.test(pathname)) : undefined;
  if (known) return known.reply;
  recorded.surprises.push(`${incoming.method} ${incoming.url}`);
  return { status: 404, json: { error: { message: `not found: ${incoming.url}` } } };
}

function play(dialect: Dialect, request: ModelRequest, { asked }: Recorded): Reply | null {
  const cues = request.tools.length === 0 ? [] : cuesIn(request.entries);
  const cue = cues.at(-1);
  const move = cue ? nextMove(request, cue) : { say: 'A short title' };
  if ('hang' in move || 'fail' in move) {
    asked.push({ cues, figures: null });
    return 'fail' in move ? { ...FAILING[move.fail], json: dialect.fault(move.fail) } : null;
  }
  const figures = figuresOf(asked.length);
  asked.push({ cues, figures });
  return dialect.write(move, request, figures, `${asked.length}x`);
}

/** No two requests cost the same, so that sums show what was counted twice or not at all. */
function figuresOf(index: number): Figures {
  return { input: 1000 + 3 * index, cached: 200 + index, output: 50 + 2 * index };
}

/** Requests beside the model's, answered as briefly as the programs accept. */
const SMALL_TALK: readonly { readonly matches: RegExp; readonly reply: Reply }[] = [
  { matches: /^\/$/, reply: { status: 200 } },
  { matches: /\/count_tokens$/, reply: { status: 200, json: { input_tokens: 42 } } },
  { matches: /:countTokens$/, reply: { status: 200, json: { totalTokens: 42 } } },
  { matches: /\/models$/, reply: { status: 200, json: { object: 'list', data: [], models: [], has_more: false } } },
];

async function bodyOf(incoming: IncomingMessage): Promise<JsonRecord> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const text = (incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw).toString();
  return text === '' ? {} : recordOf(JSON.parse(text));
}

async function send(outgoing: ServerResponse, { status, headers, events, json }: Reply): Promise<void> {
  outgoing.writeHead(status, { ...headers, 'content-type': events ? 'text/event-stream' : 'application/json' });
  for (const { name, data, afterMs = 0 } of events ?? []) {
    if (afterMs > 0) await delay(afterMs);
    outgoing.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${data === DONE ? DONE : JSON.stringify(data)}\n\n`);
  }
  outgoing.end(json === undefined ? '' : JSON.stringify(json));
}
