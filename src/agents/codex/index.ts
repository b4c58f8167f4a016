import type { AgentSettings } from '../../domain/model/settings.ts';
import type { Agent, AgentDeps } from '../../ports/agent.ts';
import type { AgentKind } from '../../ports/agent-kind.ts';
import { programProblem } from '../shared/failures.ts';
import { hostOf } from '../shared/host.ts';
import { createFirstAlone } from '../shared/first-alone.ts';
import { DEFAULT_COMMAND, facts } from './facts.ts';
import { optionsSchema, type Options } from './options.ts';
import { startSession } from './session.ts';

const REMEDY = 'install Codex with `npm install -g @openai/codex` or name its program in agent.command';

/** The kind whole; what it is stands with its facts. */
export const agentKind: AgentKind = {
  ...facts,
  // Looked at once: to compile the check would take longer than the check.
  create: (settings, options, deps) => createAgent(settings, optionsSchema().parse(options, { jitless: true }), deps),
};

function createAgent(settings: AgentSettings, options: Options, deps: AgentDeps): Agent {
  const command = settings.command ?? DEFAULT_COMMAND;
  const firstAlone = createFirstAlone();
  return {
    kind: 'codex',
    async findProblem() {
      const [program = ''] = command;
      return programProblem(program, await hostOf(deps).findProgram(program, deps.env), REMEDY);
    },
    startSession: (request, signal) =>
      firstAlone(() => startSession({ command, options, settings, deps, request }, signal), signal),
  };
}
