import type { AgentSettings } from '../../domain/model/settings.ts';
import { createMask, type Mask } from '../../lib/http/index.ts';
import type { SessionRequest } from '../../ports/agent.ts';

type Env = Readonly<Record<string, string>>;

/** Names the run. Also how processes are recognized that left the group of their session. */
const RUN_VARIABLE = 'FORAY_RUN_ID';

/** The environment of a session's processes: what the daemon hands down, whose run it is, and where. Some trust PWD over the directory. */
export function runEnvironment(inherited: Env, request: SessionRequest): Record<string, string> {
  return {
    ...inherited,
    PWD: request.workspacePath,
    [RUN_VARIABLE]: request.runId,
    FORAY_ISSUE_ID: request.issueId,
    FORAY_ISSUE_IDENTIFIER: request.issueIdentifier,
    FORAY_WORKSPACE: request.workspacePath,
  };
}

/** What every process of a run carries in its environment. */
export function runMarker({ runId }: SessionRequest): `${string}=${string}` {
  return `${RUN_VARIABLE}=${runId}`;
}

/** Fewer characters are a word or a number more often than a secret. */
const SHORTEST_SECRET = 8;

/** The agent's own credentials, by the names of their variables. */
export function secretsIn(env: Env): readonly string[] {
  const named = Object.entries(env).filter(([name]) => /(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$/i.test(name));
  return named.map(([, value]) => value).filter((value) => value.length >= SHORTEST_SECRET);
}

/** Masks what an agent must not repeat into our logs: it may print its environment, and what it finds elsewhere. */
export function maskFor(env: Env, known: readonly string[] = []): Mask {
  return createMask([...secretsIn(env), ...known]);
}

const LONGEST_SILENCE_MS = 5_000;

/** How often a busy agent is said to be alive: well before the watch for stalled sessions ends it. */
export function aliveEvery({ stallTimeoutMs }: AgentSettings): number {
  return stallTimeoutMs > 0 ? Math.min(LONGEST_SILENCE_MS, stallTimeoutMs / 3) : LONGEST_SILENCE_MS;
}
