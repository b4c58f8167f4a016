import type { AgentSettings } from '../../domain/model/settings.ts';
import type { Agent, AgentDeps } from '../../ports/agent.ts';
import type { AgentKind } from '../../ports/agent-kind.ts';
import { findProgram, type ProgramState } from '../../lib/process/index.ts';
import { codexOptions, type CodexOptions } from './options.ts';
import { startSession } from './session.ts';

const DEFAULT_COMMAND = ['codex', 'app-server'] as const;

/** OpenAI's Codex, by its app server: one process for all turns of a session. */
export const codexKind: AgentKind = {
  kind: 'codex',
  defaultCommand: DEFAULT_COMMAND,
  requiresCommand: false,
  options: codexOptions,
  create: (settings, options, deps) => createCodex(settings, codexOptions.parse(options), deps),
};

function createCodex(settings: AgentSettings, options: CodexOptions, deps: AgentDeps): Agent {
  const command = settings.command ?? DEFAULT_COMMAND;
  return {
    kind: 'codex',
    async findProblem() {
      const program = command[0] ?? '';
      return PROBLEMS[await findProgram(program, deps.env)](program);
    },
    startSession: (request, signal) => startSession({ command, options, settings, deps, request }, signal),
  };
}

const REMEDY = 'install Codex with `npm install -g @openai/codex` or name its program in agent.command';

const PROBLEMS: Readonly<Record<ProgramState, (program: string) => string | null>> = {
  found: () => null,
  missing: (program) => `cannot find the program ${program}; ${REMEDY}`,
  not_executable: (program) => `the program ${program} is not executable by this user; ${REMEDY}`,
};
