import type { AgentSettings } from '../../domain/model/settings.ts';
import type { Agent, AgentDeps } from '../../ports/agent.ts';
import type { AgentKind } from '../../ports/agent-kind.ts';
import { createConversations } from './conversations.ts';
import { findProgram, type ProgramState } from '../../lib/process/index.ts';
import { acpOptions, type AcpOptions } from './options.ts';
import { startSession } from './start.ts';

/** Any agent that speaks the Agent Client Protocol over its standard input and output. */
export const acpKind: AgentKind = {
  kind: 'acp',
  defaultCommand: null,
  requiresCommand: true,
  options: acpOptions,
  create: (settings, options, deps) => createAcp(settings, acpOptions.parse(options), deps),
};

function createAcp(settings: AgentSettings, options: AcpOptions, deps: AgentDeps): Agent {
  const conversations = createConversations(deps.clock.now());
  const command = settings.command ?? [];
  return {
    kind: 'acp',
    async findProblem() {
      const [program = ''] = command;
      if (program === '') return `no program is named: ${REMEDY}`;
      return programProblem(program, await findProgram(program, deps.env));
    },
    startSession: (request, signal) => startSession({ command, options, settings, deps, conversations, request }, signal),
  };
}

const REMEDY = 'set agent.command to an agent that speaks the Agent Client Protocol, such as `gemini --acp` or `opencode acp`';

function programProblem(program: string, state: ProgramState): string | null {
  if (state === 'missing') return `cannot find the program ${program}: install it, or ${REMEDY}`;
  return state === 'not_executable' ? `the program ${program} is not executable by this user: ${REMEDY}` : null;
}
