import type { SessionRequest, ToolServer } from '../../ports/agent.ts';
import { runEnvironment } from '../shared/run-environment.ts';

/** The environment of the agent's process. */
export function envFor(inherited: Readonly<Record<string, string>>, request: SessionRequest): Record<string, string> {
  return runEnvironment(inherited, request);
}

/** The tools for the issue, as the protocol lists servers. They travel over a pipe that nobody else can read. */
export function serverEntry({ name, command, args, env }: ToolServer): object {
  return { name, command, args, env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })) };
}
