import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentEvent } from '../../../src/domain/model/agent-event.ts';
import type { AgentSettings } from '../../../src/domain/model/settings.ts';
import type { Agent, AgentDeps, AgentSession, SessionRequest } from '../../../src/ports/agent.ts';
import { agentKind } from '../../../src/agents/codex/index.ts';
import { settingsWith } from '../settings.ts';

/** One step of what the stand-in does in a turn. `$T` and `$U` in what it says become the ids of thread and turn. */
export type Step =
  | { readonly say: object }
  /** Asks us, and waits for the answer. */
  | { readonly ask: object }
  | { readonly raw: string }
  /** So many lines of so many bytes that are no messages. */
  | { readonly flood: readonly [lines: number, bytes: number] }
  /** The message so many times. */
  | { readonly repeat: readonly [times: number, message: object] }
  /** Waits until it is told to interrupt, and says so. */
  | { readonly untilInterrupted: true }
  | { readonly hang: true }
  | { readonly exit: number }
  /** A child that outlives its parent and does not listen to signals. */
  | { readonly spawnStubborn: true }
  | { readonly stderr: string };

/** How the stand-in behaves outside of turns. */
export interface FakeBehaviour {
  readonly account?: object | null;
  readonly requiresOpenaiAuth?: boolean;
  readonly refuse?: Readonly<Record<string, string>>;
  readonly silentOn?: string;
  /** Said after the answer to `thread/resume` or `thread/start`. */
  readonly afterOpen?: readonly object[];
  readonly exitAtStart?: number;
  readonly ignoreSigterm?: boolean;
  readonly ignoreInterrupt?: boolean;
  readonly deaf?: boolean;
  /** How a command ends that is tried in the sandbox. */
  readonly sandboxExit?: number;
  /** How long its start takes; another one that starts meanwhile fails, as on a home that is not set up. */
  readonly setUpMs?: number;
}

/** A process that speaks the protocol of `codex app-server` and does in each turn what its prompt says. */
const SCRIPT = `
import fs from 'node:fs'; import readline from 'node:readline'; import { spawn } from 'node:child_process';
const how = JSON.parse(process.env.FAKE_BEHAVIOUR), log = (entry) => fs.appendFileSync(process.env.FAKE_LOG, JSON.stringify(entry) + '\\n');
log({ started: { pid: process.pid, argv: process.argv.slice(2), env: process.env, cwd: process.cwd() } });
if (how.exitAtStart !== undefined) { process.stderr.write('\\u001b[31merror:\\u001b[0m unknown flag\\n'); process.exitCode = how.exitAtStart; process.stdin.destroy(); }
if (how.ignoreSigterm) process.on('SIGTERM', () => {});
if (how.deaf) { process.stdin.pause(); setInterval(() => {}, 1000); }
const lock = process.env.FAKE_LOG + '.setup';
if (how.setUpMs) { if (fs.existsSync(lock)) { process.stderr.write('database is locked'); process.exit(1); } fs.writeFileSync(lock, ''); setTimeout(() => fs.rmSync(lock), how.setUpMs); await new Promise((resolve) => setTimeout(resolve, how.setUpMs)); }
let turns = 0, turnId = '', asks = 0, threadId = 'thread-new', onInterrupt = null, interrupted = false; const answers = new Map();
const send = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const fill = (value) => JSON.parse(JSON.stringify(value).replaceAll('$T', threadId).replaceAll('$U', turnId));
const drained = () => new Promise((resolve) => process.stdout.writableNeedDrain ? process.stdout.once('drain', resolve) : setImmediate(resolve));
async function play(steps) {
  for (const step of steps) {
    if (step.say) send(fill(step.say));
    if (step.raw) process.stdout.write(step.raw.replaceAll('$U', turnId) + '\\n');
    if (step.stderr) process.stderr.write(step.stderr);
    if (step.ask) await new Promise((resolve) => { const id = asks++; answers.set(id, resolve); send({ id, ...fill(step.ask) }); });
    if (step.flood) for (let n = 0; n < step.flood[0]; n += 1) { process.stdout.write('x'.repeat(step.flood[1]) + '\\n'); await drained(); }
    if (step.repeat) for (let n = 0; n < step.repeat[0]; n += 1) { send(fill(step.repeat[1])); if (n % 100 === 0) await drained(); }
    if (step.spawnStubborn) { const child = spawn(process.execPath, ['-e', "process.on('SIGTERM',()=>{});setInterval(()=>{},1000);console.log('up')"], { stdio: ['ignore', 'pipe', 'ignore'], detached: true }); await new Promise((resolve) => child.stdout.once('data', resolve)); log({ stubborn: child.pid }); send({ method: 'item/started', params: { threadId, turnId, item: { id: 's', type: 'commandExecution', status: 'inProgress' } } }); }
    if (step.untilInterrupted) { if (!interrupted) await new Promise((resolve) => (onInterrupt = resolve)); interrupted = false; send({ method: 'turn/completed', params: { threadId, turn: { id: turnId, items: [], status: 'interrupted', error: null } } }); }
    if (step.hang) await new Promise(() => {});
    if (step.exit !== undefined) { await drained(); process.exit(step.exit); }
  }
}
const thread = () => ({ thread: { id: threadId, turns: [] }, model: 'fake-model', sandbox: {} });
const handlers = {
  initialize: () => ({ userAgent: 'fake' }),
  'account/read': () => ({ account: how.account ?? null, requiresOpenaiAuth: how.requiresOpenaiAuth ?? false }),
  'account/login/start': () => ({ type: 'apiKey' }),
  'thread/start': thread,
  'thread/resume': ({ threadId: id }) => { threadId = id; return thread(); },
  'turn/start': ({ input }) => { turnId = 'turn-' + (turns += 1); setImmediate(() => { send({ method: 'turn/started', params: { threadId, turn: { id: turnId, status: 'inProgress' } } }); play(JSON.parse(input[0].text)); }); return { turn: { id: turnId, status: 'inProgress' } }; },
  'command/exec': () => ({ exitCode: how.sandboxExit ?? 0, stdout: '', stderr: '' }),
  'turn/interrupt': () => { if (!how.ignoreInterrupt) { interrupted = true; onInterrupt?.(); } return {}; },
};
if (!how.deaf) readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line); log({ received: { id, method, params, result, error } });
  if (method === undefined) return answers.get(id)?.();
  if (id === undefined || method === how.silentOn) return;
  if (how.refuse?.[method]) return send({ id, error: { code: -32600, message: how.refuse[method] } });
  send({ id, result: handlers[method](params) });
  if (method.startsWith('thread/')) for (const message of how.afterOpen ?? []) send(fill(message));
}).on('close', () => { if (!how.ignoreSigterm) process.exit(0); });
`;

export interface FakeCodex {
  /** The kind itself, over the stand-in. */
  agent(behaviour?: FakeBehaviour, options?: Readonly<Record<string, unknown>>): Agent;
  request(): SessionRequest;
  start(
    behaviour?: FakeBehaviour,
    request?: Partial<SessionRequest>,
    options?: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<AgentSession>;
  /** Runs a turn of these steps, and gives back its events too. */
  turn(session: AgentSession, steps: readonly Step[], signal?: AbortSignal): Promise<RecordedTurn>;
  /** What the stand-in got and did, in order. */
  log(): Record<string, Record<string, unknown>>[];
  /** The messages it received with this method. */
  received(method: string): Record<string, unknown>[];
  readonly ledger: string[];
  readonly workspacePath: string;
  cleanUp(): Promise<void>;
}

export interface RecordedTurn {
  readonly result: Awaited<ReturnType<AgentSession['runTurn']>>;
  readonly events: AgentEvent[];
}

export const FAKE_SETTINGS: AgentSettings = settingsWith({ agent: { kind: 'codex', stopGraceMs: 500 } }).agent;

/** The kind with the stand-in as its command, in a temporary folder. */
export function createFakeCodex(
  extraEnv: Readonly<Record<string, string>> = {},
  settings: Partial<AgentSettings> = {},
): FakeCodex {
  const folder = mkdtempSync(path.join(tmpdir(), 'codex-'));
  const [script, logFile] = [path.join(folder, 'fake.mjs'), path.join(folder, 'log')];
  writeFileSync(script, SCRIPT);
  const [sessions, ledger]: [AgentSession[], string[]] = [[], []];
  const agents = new Map<string, Agent>();

  function deps(behaviour: FakeBehaviour): AgentDeps {
    const env = { PATH: process.env['PATH'] ?? '', FAKE_LOG: logFile, FAKE_BEHAVIOUR: JSON.stringify(behaviour), ...extraEnv };
    const quiet = (): void => {};
    const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    const processes = {
      started: (pid: number, owner: string) => void ledger.push(`started ${pid} ${owner}`),
      ended: (pid: number) => void ledger.push(`ended ${pid}`),
    };
    return { env, clock: { now: Date.now }, logger, processes };
  }

  /** The same one for the same behaviour: it knows whether its home was set up. */
  function agent(behaviour: FakeBehaviour = {}, options: Readonly<Record<string, unknown>> = {}): Agent {
    const key = JSON.stringify([behaviour, options]);
    const parsed = agentKind.options.parse(options);
    const command = [process.execPath, script];
    const known = agents.get(key) ?? agentKind.create({ ...FAKE_SETTINGS, command, ...settings }, parsed, deps(behaviour));
    agents.set(key, known);
    return known;
  }

  function log(): Record<string, Record<string, unknown>>[] {
    const lines = readFileSync(logFile, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Record<string, Record<string, unknown>>);
  }

  return {
    workspacePath: folder,
    ledger,
    log,
    received: (method) => log().flatMap(({ received }) => (received?.['method'] === method ? [received] : [])),
    agent,
    request: () => requestIn(folder),
    async start(behaviour = {}, request = {}, options = {}, signal = new AbortController().signal) {
      const session = await agent(behaviour, options).startSession({ ...requestIn(folder), ...request }, signal);
      sessions.push(session);
      return session;
    },
    async turn(session, steps, signal = new AbortController().signal) {
      const events: AgentEvent[] = [];
      const result = await session.runTurn({ number: 1, prompt: JSON.stringify(steps) }, (event) => events.push(event), signal);
      return { result, events };
    },
    async cleanUp() {
      await Promise.all(sessions.map((session) => session.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function requestIn(workspacePath: string): SessionRequest {
  // The run's id marks its processes: two tests must not share it.
  const runId = `run-${path.basename(workspacePath)}`;
  return { runId, issueId: '7', issueIdentifier: 'AB-7', workspacePath, resumeSessionId: null, toolServer: null };
}

/** Stand-ins that are cleaned up together. */
export function keepFakes(): { fakeCodex: typeof createFakeCodex; cleanUp(): Promise<void> } {
  const fakes: FakeCodex[] = [];
  return {
    fakeCodex(...args) {
      const fake = createFakeCodex(...args);
      fakes.push(fake);
      return fake;
    },
    async cleanUp() {
      await Promise.all(fakes.splice(0).map((fake) => fake.cleanUp()));
    },
  };
}

export function say(...said: readonly (object | readonly object[])[]): Step[] {
  return said.flat().map((message) => ({ say: message }));
}

export function faultKind(result: RecordedTurn['result']): string {
  return result.ok ? 'ok' : result.fault.kind;
}

export function lastUsage(events: readonly AgentEvent[]): AgentEvent | undefined {
  return events.findLast(({ type }) => type === 'usage');
}

/** Waits for what another process does. */
export async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; tries < 3_000; tries += 1) {
    if (attempt(isTrue)) return;
    await delay(10);
  }
  throw new Error('it never happened');
}

function attempt(isTrue: () => boolean): boolean {
  try {
    return isTrue();
  } catch {
    return false;
  }
}
