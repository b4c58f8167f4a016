import type { SessionRequest } from '../../ports/agent.ts';
import type { ClaudeCodeOptions } from './options.ts';

/** The conversation a turn belongs to: one that claude knows already, or one to be opened under this id. */
export interface Conversation {
  readonly id: string;
  readonly isNew: boolean;
}

/** The tool servers of a session, as far as the command line is concerned. */
export interface ToolArgs {
  /** File for `--mcp-config`, or null for none. */
  readonly configPath: string | null;
  /** The server of ours, whose tools are all allowed. */
  readonly serverName: string | null;
}

/** The arguments of one turn. The prompt is not among them: it goes to standard input, where it has no length limit. */
export function argsFor(options: ClaudeCodeOptions, conversation: Conversation, tools: ToolArgs): string[] {
  const ownTools = tools.serverName === null ? [] : [`mcp__${tools.serverName}`];
  return [
    '-p',
    ...flag('--output-format', 'stream-json'),
    '--verbose',
    ...flag('--input-format', 'text'),
    ...flag(conversation.isNew ? '--session-id' : '--resume', conversation.id),
    ...flag('--permission-mode', options.permission_mode),
    ...flag('--model', options.model),
    ...flag('--max-turns', options.max_turns),
    ...flag('--max-budget-usd', options.max_budget_usd),
    ...flag('--append-system-prompt', options.append_system_prompt),
    ...list('--allowedTools', [...(options.allowed_tools ?? []), ...ownTools]),
    ...list('--disallowedTools', options.disallowed_tools ?? []),
    ...flag('--mcp-config', tools.configPath),
  ];
}

function flag(name: string, value: string | number | null | undefined): string[] {
  return value === null || value === undefined ? [] : [name, String(value)];
}

function list(name: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [name, ...values];
}

/** Unless the operator set them. The first three keep it from phoning home and from changing under our feet. */
const ENV_DEFAULTS: Readonly<Record<string, string>> = {
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  // Its own ten tries hold a bad key for over 90 s before it is reported.
  CLAUDE_CODE_MAX_RETRIES: '4',
};

/** Set inside a Claude Code session: a daemon started from one would look like a part of it. */
const FOREIGN_SESSION = new Set(['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT']);

export interface Runner {
  readonly isRoot: boolean;
}

/** The environment of every process of a session. */
export function envFor(
  inherited: Readonly<Record<string, string>>,
  request: SessionRequest,
  options: ClaudeCodeOptions,
  runner: Runner,
): Record<string, string> {
  const own = Object.entries(inherited).filter(([name]) => !FOREIGN_SESSION.has(name));
  return {
    ...ENV_DEFAULTS,
    // As root it refuses to skip permissions unless it is told that it cannot do harm.
    ...(runner.isRoot && options.permission_mode === 'bypassPermissions' ? { IS_SANDBOX: '1' } : {}),
    ...Object.fromEntries(own),
    PWD: request.workspacePath,
    [RUN_VARIABLE]: request.runId,
    FORAY_ISSUE_ID: request.issueId,
    FORAY_ISSUE_IDENTIFIER: request.issueIdentifier,
    FORAY_WORKSPACE: request.workspacePath,
  };
}

/** Also how processes are recognized that left the group of their session. */
export const RUN_VARIABLE = 'FORAY_RUN_ID';
