import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AgentEvent } from '../../../src/domain/model/agent-event.ts';
import type { AgentSettings } from '../../../src/domain/model/settings.ts';
import type { Agent, SessionRequest } from '../../../src/ports/agent.ts';
import { agentKind } from '../../../src/agents/acp/index.ts';
import { settingsWith } from '../settings.ts';

type Message = Readonly<Record<string, unknown>> & {
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
};

/** A place for tests with real processes: a workspace, and agents that are small programs. */
export interface Stage {
  readonly workspace: string;
  /** An agent that runs this script. It may replace `handlers` and use `send`, `ask`, `say`, `update` and `fail`. */
  agent(script: string, options?: Record<string, unknown>, settings?: Partial<AgentSettings>): Promise<Agent>;
  /** An agent that runs any program. */
  program(command: readonly string[], options?: Record<string, unknown>, settings?: Partial<AgentSettings>): Agent;
  request(changes?: Partial<SessionRequest>): SessionRequest;
  /** Every message that the scripted agents were sent. */
  heard(): Promise<readonly Message[]>;
  /** What the ledger of processes was told. */
  readonly ledger: { readonly started: (readonly [number, string])[]; readonly ended: number[] };
  read(file: string): Promise<string>;
  remove(): Promise<void>;
}

export async function createStage(env: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const workspace = await realpath(await mkdtemp(path.join(tmpdir(), 'acp-')));
  const heardFile = path.join(workspace, 'heard.jsonl');
  const ledger = { started: [] as [number, string][], ended: [] as number[] };
  let scripts = 0;

  function program(
    command: readonly string[],
    options: Record<string, unknown> = {},
    settings: Partial<AgentSettings> = {},
  ): Agent {
    const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    return agentKind.create({ ...SETTINGS, ...settings, command }, options, {
      env: { PATH: process.env['PATH'] ?? '', HEARD: heardFile, ...env },
      clock: { now: () => Date.now() },
      logger,
      processes: { started: (pid, owner) => ledger.started.push([pid, owner]), ended: (pid) => ledger.ended.push(pid) },
    });
  }

  return {
    workspace,
    ledger,
    program,
    async agent(script, options, settings) {
      scripts += 1;
      const file = path.join(workspace, `agent-${scripts}.mjs`);
      await writeFile(file, `${PRELUDE}\n${script}\n${READ_ON}`);
      return program([process.execPath, file], options, settings);
    },
    request: (changes = {}) => ({ ...REQUEST, workspacePath: workspace, runId: `run-${path.basename(workspace)}`, ...changes }),
    async heard() {
      const lines = await readFile(heardFile, 'utf8').catch(() => '');
      return lines
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Message);
    },
    read: (file) => readFile(path.join(workspace, file), 'utf8'),
    remove: () => rm(workspace, { recursive: true, force: true }),
  };
}

const REQUEST = { issueId: '7', issueIdentifier: 'X-7', resumeSessionId: null, toolServer: null };

const SETTINGS: AgentSettings = settingsWith({ agent: { kind: 'acp', stopGraceMs: 1_000 } }).agent;

const PRELUDE = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import readline from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const waiting = new Map();
let lastId = 0;
const ask = (method, params) => new Promise((resolve) => {
  waiting.set((lastId += 1), resolve);
  send({ id: lastId, method, params });
});
const update = (update, sessionId = 's1') => send({ method: 'session/update', params: { sessionId, update } });
const say = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const fail = (code, message, data) => { throw { code, message, data }; };
const forever = () => new Promise(() => setInterval(() => {}, 1000));
const capabilities = { loadSession: true, sessionCapabilities: {} };
const info = { name: 'scripted', version: '1' };
const handlers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: capabilities, agentInfo: info, authMethods: [] }),
  'session/new': () => ({ sessionId: 's1' }),
  'session/prompt': (params) => { say('did: ' + params.prompt[0].text); return { stopReason: 'end_turn' }; },
};
`;

const READ_ON = `
const answer = async (message) => {
  if (message.method === undefined) return waiting.get(message.id)?.(message);
  const handler = handlers[message.method];
  if (message.id === undefined) return handler?.(message.params);
  try {
    if (!handler) fail(-32601, 'Method not found');
    send({ id: message.id, result: (await handler(message.params)) ?? null });
  } catch (error) {
    send({ id: message.id, error });
  }
};
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(process.env.HEARD, line + '\\n');
  answer(JSON.parse(line));
});
`;

/** Collects the events of turns. */
export function createListener(): {
  readonly events: AgentEvent[];
  readonly hear: (event: AgentEvent) => void;
  texts(type: 'message' | 'notice'): string[];
} {
  const events: AgentEvent[] = [];
  return {
    events,
    hear: (event) => void events.push(event),
    texts: (type) => events.flatMap((event) => (event.type === type ? [event.text] : [])),
  };
}
