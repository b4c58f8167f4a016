import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { AgentEvent } from '../../../src/domain/model/agent-event.ts';
import type { AgentSettings } from '../../../src/domain/model/settings.ts';
import type { AgentDeps, AgentSession, SessionRequest, TurnResult } from '../../../src/ports/agent.ts';
import { agentKind } from '../../../src/agents/claude-code/index.ts';
import { settingsWith } from '../settings.ts';

/** Writes down how it was called, then runs the script of this call. For tests. */
const PROGRAM = `#!/bin/sh
n=$(($(cat "$FAKE_DIR/count" 2>/dev/null || echo 0) + 1))
echo $n > "$FAKE_DIR/count"
for arg in "$@"; do printf '%s\\0' "$arg"; done > "$FAKE_DIR/args.$n"
env > "$FAKE_DIR/env.$n"
pwd > "$FAKE_DIR/cwd.$n"
. "$FAKE_DIR/script.$n"
`;

export const FIXTURES = fileURLToPath(new URL('../../../src/agents/claude-code/fixtures', import.meta.url));

/** A script that reads the prompt, prints recorded output and exits. */
export function prints(fixture: string, code = 0): string {
  return `cat > "$FAKE_DIR/stdin.$n"; cat "${FIXTURES}/${fixture}.jsonl"; exit ${code}`;
}

export interface FakeClaude {
  readonly dir: string;
  readonly request: SessionRequest;
  readonly settings: AgentSettings;
  readonly deps: AgentDeps;
  /** Pids of the process groups, as the host was told of them. */
  readonly started: number[];
  readonly ended: number[];
  open(request?: Partial<SessionRequest>, options?: object): Promise<AgentSession>;
  args(call: number): Promise<string[]>;
  /** What a call wrote to a file of its own, such as `stdin`. */
  noted(what: string, call: number): Promise<string>;
  calls(): Promise<number>;
  remove(): Promise<void>;
}

/** A stand-in for the program: the first call runs the first script, and so on. */
export async function createFakeClaude(scripts: readonly string[], env: Record<string, string> = {}): Promise<FakeClaude> {
  const dir = await mkdtemp(path.join(tmpdir(), 'fake-claude-'));
  const program = path.join(dir, 'claude');
  const workspacePath = path.join(dir, 'ws');
  await mkdir(workspacePath);
  await writeFile(program, PROGRAM);
  await chmod(program, 0o755);
  for (const [i, script] of scripts.entries()) await writeFile(path.join(dir, `script.${i + 1}`), script);
  const started: number[] = [];
  const ended: number[] = [];
  const deps: AgentDeps = {
    env: { PATH: `${dir}:${process.env['PATH'] ?? ''}`, FAKE_DIR: dir, ...env },
    clock: { now: () => Date.parse('2026-11-15T12:00:00Z') },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    processes: { started: (pid) => void started.push(pid), ended: (pid) => void ended.push(pid) },
  };
  const request = {
    runId: path.basename(dir),
    issueId: '10',
    issueIdentifier: 'ABC-1',
    workspacePath,
    resumeSessionId: null,
    toolServer: null,
  };
  const noted = (what: string, call: number): Promise<string> => readFile(path.join(dir, `${what}.${call}`), 'utf8');
  return {
    dir,
    request,
    settings: SETTINGS,
    deps,
    started,
    ended,
    open: (changes = {}, options = {}) => {
      const agent = agentKind.create(SETTINGS, agentKind.options.parse(options), deps);
      return agent.startSession({ ...request, ...changes }, new AbortController().signal);
    },
    args: async (call) => (await noted('args', call)).split('\0').slice(0, -1),
    noted,
    calls: async () => Number(await readFile(path.join(dir, 'count'), 'utf8').catch(() => '0')),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

export const SETTINGS: AgentSettings = settingsWith({
  agent: { kind: 'claude-code', turnTimeoutMs: 60_000, readTimeoutMs: 1000, stallTimeoutMs: 0, stopGraceMs: 1000 },
}).agent;

/** A turn and all that was heard of it. */
export async function takeTurn(
  session: AgentSession,
  prompt = 'do it',
  signal = new AbortController().signal,
): Promise<{ result: TurnResult; events: AgentEvent[] }> {
  const events: AgentEvent[] = [];
  const result = await session.runTurn({ number: 1, prompt }, (event) => events.push(event), signal);
  return { result, events };
}

/** One that goes with its test. */
export async function fakeWith(scripts: readonly string[], env?: Record<string, string>): Promise<FakeClaude> {
  const fake = await createFakeClaude(scripts, env);
  onTestFinished(() => fake.remove());
  return fake;
}

/** The kind of what went wrong, or `ok`. */
export function faultKindOf(result: { ok: boolean; fault?: { kind: string } }): string {
  return result.fault?.kind ?? 'ok';
}
