import type { SessionRequest, ToolServer } from '../../ports/agent.ts';
import { runEnvironment } from '../shared/run-environment.ts';
import type { Options } from './options.ts';

/** The conversation a turn belongs to: one that claude knows already, or one to be opened under this id. */
export interface Conversation {
  readonly id: string;
  readonly isNew: boolean;
}

/** What one turn is started with. */
export interface TurnStart {
  readonly options: Options;
  readonly conversation: Conversation;
  readonly toolServer: ToolServer | null;
  /** The operator's own file of tool servers. */
  readonly mcpFile: string | null;
  /** What the turn may cost, or null for no limit. */
  readonly budgetUsd: number | null;
}

/** The arguments of one turn. The prompt is not among them: it goes to standard input, where it has no length limit. */
export function argsFor({ options, conversation, toolServer, mcpFile, budgetUsd }: TurnStart): string[] {
  const ownTools = toolServer === null ? [] : [`mcp__${toolServer.name}`];
  return [
    '-p',
    ...flag('--output-format', 'stream-json'),
    '--verbose',
    // The pieces of a long answer are the only sign of life while it is written.
    '--include-partial-messages',
    ...flag('--input-format', 'text'),
    ...flag(conversation.isNew ? '--session-id' : '--resume', conversation.id),
    ...flag('--permission-mode', options.permission_mode),
    ...flag('--model', options.model),
    ...flag('--max-turns', options.max_turns),
    ...flag('--max-budget-usd', lowest(options.max_budget_usd, budgetUsd)),
    ...flag('--append-system-prompt', options.append_system_prompt),
    ...list('--allowedTools', [...(options.allowed_tools ?? []), ...ownTools]),
    ...list('--disallowedTools', options.disallowed_tools ?? []),
    ...list('--mcp-config', [...(mcpFile === null ? [] : [mcpFile]), ...(toolServer === null ? [] : [configOf(toolServer)])]),
  ];
}

/** Secrets are named, not written: every user of the machine can read a command line, and Claude Code fills them in. */
function configOf({ name, command, args, env }: ToolServer): string {
  const named = Object.fromEntries(Object.keys(env).map((variable) => [variable, `\${${variable}}`]));
  return JSON.stringify({ mcpServers: { [name]: { type: 'stdio', command, args, env: named } } });
}

function lowest(a: number | undefined, b: number | null): number | undefined {
  if (b === null) return a;
  return Math.min(a ?? Infinity, Math.max(b, SMALLEST_BUDGET));
}

/** Claude Code takes no budget of nothing. */
const SMALLEST_BUDGET = 0.01;

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

export interface ProcessUser {
  readonly isRoot: boolean;
}

/** The environment of every process of a session. */
export function envFor(
  inherited: Readonly<Record<string, string>>,
  request: SessionRequest,
  options: Options,
  runner: ProcessUser,
): Record<string, string> {
  const own = Object.entries(inherited).filter(([name]) => !FOREIGN_SESSION.has(name));
  return {
    ...ENV_DEFAULTS,
    // As root it refuses to skip permissions unless it is told that it cannot do harm.
    ...(runner.isRoot && options.permission_mode === 'bypassPermissions' ? { IS_SANDBOX: '1' } : {}),
    ...runEnvironment(Object.fromEntries(own), request),
    ...request.toolServer?.env,
  };
}
