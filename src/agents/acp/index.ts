import type { AgentSettings } from '../../domain/model/settings.ts';
import type { Agent, AgentDeps } from '../../ports/agent.ts';
import type { AgentKind } from '../../ports/agent-kind.ts';
import { programProblem } from '../shared/failures.ts';
import { hostOf } from '../shared/host.ts';
import { createFirstAlone } from '../shared/first-alone.ts';
import { facts } from './facts.ts';
import { optionsSchema, type Options } from './options.ts';
import { startSession } from './session.ts';
import { createConversations } from './conversations.ts';

const REMEDY = 'set agent.command to an agent that speaks the Agent Client Protocol, such as `gemini --acp` or `opencode acp`';

/** The kind whole; what it is stands with its facts. */
export const agentKind: AgentKind = {
  ...facts,
  // Looked at once: to compile the check would take longer than the check.
  create: (settings, options, deps) => createAgent(settings, optionsSchema().parse(options, { jitless: true }), deps),
};

function createAgent(settings: AgentSettings, options: Options, deps: AgentDeps): Agent {
  const conversations = createConversations(deps.clock.now());
  const command = settings.command ?? [];
  const firstAlone = createFirstAlone();
  return {
    kind: 'acp',
    async findProblem() {
      const [program = ''] = command;
      if (program === '') return `no program is named: ${REMEDY}`;
      return programProblem(program, await hostOf(deps).findProgram(program, deps.env), `install it, or ${REMEDY}`);
    },
    startSession: (request, signal) =>
      firstAlone(() => startSession({ command, options, settings, deps, conversations, request }, signal), signal),
  };
}
