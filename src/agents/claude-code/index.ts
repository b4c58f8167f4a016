import { AgentError } from '../../domain/model/errors.ts';
import type { AgentSettings } from '../../domain/model/settings.ts';
import type { Agent, AgentDeps } from '../../ports/agent.ts';
import type { AgentKind } from '../../ports/agent-kind.ts';
import { findProgram } from '../../lib/process/index.ts';
import { expandHome, findMcpProblem, prepareTools } from './mcp-config.ts';
import { claudeCodeOptions, type ClaudeCodeOptions } from './options.ts';
import { createSession } from './session.ts';

const DEFAULT_COMMAND = ['claude'] as const;

/** Anthropic's Claude Code, one `claude -p` for each turn. */
export const claudeCodeKind: AgentKind = {
  kind: 'claude-code',
  defaultCommand: DEFAULT_COMMAND,
  requiresCommand: false,
  options: claudeCodeOptions,
  create: (settings, options, deps) => createClaudeCode(settings, claudeCodeOptions.parse(options), deps),
};

function createClaudeCode(settings: AgentSettings, options: ClaudeCodeOptions, deps: AgentDeps): Agent {
  const command = settings.command ?? DEFAULT_COMMAND;
  const mcpFile = options.mcp_config === undefined ? null : expandHome(options.mcp_config, deps.env);
  return {
    kind: 'claude-code',
    async findProblem() {
      const program = command[0] ?? '';
      const problem = programProblem(program, await findProgram(program, deps.env));
      return problem ?? (mcpFile === null ? null : findMcpProblem(mcpFile));
    },
    async startSession(request, signal) {
      signal.throwIfAborted();
      const tools = await prepareTools(request, mcpFile).catch((error: unknown) => {
        throw toolsError(error);
      });
      return createSession({ command, options, settings, deps, request, tools });
    },
  };
}

function programProblem(program: string, state: Awaited<ReturnType<typeof findProgram>>): string | null {
  const remedy = 'install Claude Code with `npm install -g @anthropic-ai/claude-code` or name its program in agent.command';
  if (state === 'missing') return `cannot find the program ${program}: ${remedy}`;
  return state === 'not_executable' ? `the program ${program} is not executable by this user: ${remedy}` : null;
}

function toolsError(error: unknown): AgentError {
  if (error instanceof AgentError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new AgentError({ kind: 'turn_failed', detail: `cannot set up the tool server: ${why}`, cause: error });
}
