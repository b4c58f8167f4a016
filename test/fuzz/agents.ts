import { loadAgentKind } from '../../src/agents/registry.ts';
import { AgentError } from '../../src/domain/model/errors.ts';
import type { Agent, AgentDeps } from '../../src/ports/agent.ts';
import type { Chance } from '../support/random.ts';
import { settingsWith } from '../support/settings.ts';
import { createEventCheck, refuseSecrets } from './agent-events.ts';
import { ACP, CLAUDE, CODEX, type Script } from './agent-samples.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { scriptedHost } from './scripted-host.ts';
import { digestOf, type Target } from './target.ts';

const SECRETS = ['secret-token-1'];
/** What is told of a failure may quote what the agent said. */
const LONGEST_MESSAGE = 8_192;
/** A little of everything, and soon: the agent has said all that it says. */
const SETTINGS = settingsWith({ agent: { command: ['agent'], readTimeoutMs: 100, stopGraceMs: 100 } }).agent;
const RESUMED = ['', '7a1ff9e2-4b1c-4c7e-9d2a-0f4b8a1c2d3e'];

const silent = (): void => {};

function depsFor(input: string): AgentDeps {
  return {
    env: {},
    secrets: () => SECRETS,
    // The end of a minute: some conversations are not loaded before the next one begins.
    clock: { now: () => Date.UTC(2026, 0, 1, 0, 0, 59, 999) },
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    processes: { started: silent, ended: silent },
    host: scriptedHost(input.split('\n'), digestOf(input) % 3),
  };
}

/** The lines of a script, with some of them spoiled, lost, repeated or in another order. */
function spoiled(script: Script, chance: Chance): string {
  const lines = script.map((value) => {
    const line = JSON.stringify(mutateJson(value, chance, 0.02));
    return chance.happens(0.02) ? mutateText(line, chance) : line;
  });
  const at = chance.below(lines.length);
  const moved = lines.splice(at, chance.happens(0.3) ? 1 + chance.below(2) : 0);
  const to = chance.below(lines.length + 1);
  const again = chance.happens(0.5) ? moved : [];
  return [...lines.slice(0, to), ...again, ...lines.slice(to), ...(chance.happens(0.1) ? again : [])].join('\n');
}

async function agentTarget(kind: string, scripts: readonly Script[], options: readonly object[]): Promise<Target> {
  const { create, options: schema } = await loadAgentKind(kind);
  const read = options.map((one) => schema.parse(one));
  return {
    name: `what ${kind} says`,
    make: (chance) => spoiled(chance.pick(scripts), chance),
    async take(input, thorough) {
      const digest = digestOf(input);
      const ways = thorough ? read : [read[digest % read.length] ?? {}];
      for (const way of ways) await turnOf(create(SETTINGS, way, depsFor(input)), RESUMED[(digest >>> 4) % RESUMED.length] ?? '');
    },
  };
}

/** One session with one turn: it ends in a word of ours, shows no secret, and says no more than it may. */
async function turnOf(agent: Agent, resumed: string): Promise<void> {
  const check = createEventCheck(SECRETS);
  const request = { runId: 'r-1', issueId: '1', issueIdentifier: 'A-1', workspacePath: '/tmp', toolServer: null };
  const { signal } = new AbortController();
  const linux = hidePlatform();
  try {
    const session = await agent.startSession({ ...request, resumeSessionId: resumed === '' ? null : resumed }, signal);
    const result = await session.runTurn({ number: 1, prompt: 'Fix it.' }, check.see, signal);
    check.end();
    if (!result.ok) checkMessage(result.fault.message);
    await session.stop();
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    checkMessage(error.message);
  } finally {
    linux();
  }
}

/** There is no process to be found, and looking through all of the machine's would take most of the time. */
function hidePlatform(): () => void {
  const { platform } = process;
  Object.defineProperty(process, 'platform', { value: 'none' });
  return () => void Object.defineProperty(process, 'platform', { value: platform });
}

function checkMessage(message: string): void {
  refuseSecrets(message, SECRETS);
  if (message.length > LONGEST_MESSAGE) throw new Error(`a message of ${message.length} characters`);
}

export const AGENTS: readonly Target[] = [
  await agentTarget('claude-code', CLAUDE, [{}, { permission_mode: 'plan' }]),
  await agentTarget('codex', CODEX, [{}, { sandbox: 'read-only' }, { approval_policy: 'on-request' }]),
  await agentTarget('acp', ACP, [{}, { permission: 'deny' }, { model: 'm-2', mode: 'b' }]),
];
