import type { AgentSettings } from '../../domain/model/settings.ts';
import { findProgram } from '../../lib/process/index.ts';
import type { Agent, AgentDeps } from '../../ports/agent.ts';
import type { AgentKind } from '../../ports/agent-kind.ts';
import { programProblem } from '../shared/failures.ts';
import { createFirstAlone } from '../shared/first-alone.ts';
import { acpOptions, type AcpOptions } from './options.ts';
import { startSession } from './session.ts';
import { createConversations } from './usage.ts';

const REMEDY = 'set agent.command to an agent that speaks the Agent Client Protocol, such as `gemini --acp` or `opencode acp`';

/** Any agent that speaks the Agent Client Protocol over its standard input and output. */
export const acpKind: AgentKind = {
  kind: 'acp',
  defaultCommand: null,
  requiresCommand: true,
  tellsUsage: 'after-turn',
  options: acpOptions,
  create: (settings, options, deps) => createAgent(settings, acpOptions.parse(options), deps),
};

function createAgent(settings: AgentSettings, options: AcpOptions, deps: AgentDeps): Agent {
  const conversations = createConversations(deps.clock.now());
  const command = settings.command ?? [];
  const firstAlone = createFirstAlone();
  return {
    kind: 'acp',
    async findProblem() {
      const [program = ''] = command;
      if (program === '') return `no program is named: ${REMEDY}`;
      return programProblem(program, await findProgram(program, deps.env), `install it, or ${REMEDY}`);
    },
    startSession: (request, signal) =>
      firstAlone(() => startSession({ command, options, settings, deps, conversations, request }, signal), signal),
  };
}
