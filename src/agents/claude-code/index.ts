import { AgentError } from '../../domain/model/errors.ts';
import type { AgentSettings } from '../../domain/model/settings.ts';
import type { Agent, AgentDeps } from '../../ports/agent.ts';
import type { AgentKind } from '../../ports/agent-kind.ts';
import { programProblem } from '../shared/failures.ts';
import { DEFAULT_COMMAND, facts } from './facts.ts';
import { hostOf } from '../shared/host.ts';
import { expandHome, findMcpProblem } from './mcp-config.ts';
import { optionsSchema, type Options } from './options.ts';
import { startSession } from './session.ts';

const REMEDY = 'install Claude Code with `npm install -g @anthropic-ai/claude-code` or name its program in agent.command';

/** The kind whole; what it is stands with its facts. */
export const agentKind: AgentKind = {
  ...facts,
  // Looked at once: to compile the check would take longer than the check.
  create: (settings, options, deps) => createAgent(settings, optionsSchema().parse(options, { jitless: true }), deps),
};

function createAgent(settings: AgentSettings, options: Options, deps: AgentDeps): Agent {
  const command = settings.command ?? DEFAULT_COMMAND;
  const mcpFile = options.mcp_config === undefined ? null : expandHome(options.mcp_config, deps.env);
  const findFileProblem = async (): Promise<string | null> => (mcpFile === null ? null : findMcpProblem(mcpFile));
  return {
    kind: 'claude-code',
    async findProblem() {
      const [program = ''] = command;
      return programProblem(program, await hostOf(deps).findProgram(program, deps.env), REMEDY) ?? (await findFileProblem());
    },
    async startSession(request, signal) {
      signal.throwIfAborted();
      const problem = await findFileProblem();
      if (problem !== null) throw new AgentError({ kind: 'turn_failed', detail: `cannot set up the tool server: ${problem}` });
      return startSession({ command, options, settings, deps, request, mcpFile });
    },
  };
}
