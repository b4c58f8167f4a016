import type { SessionRequest, ToolServer } from '../../ports/agent.ts';
import { runEnvironment } from '../shared/run-environment.ts';
import type { Options } from './options.ts';

/** Handed over as a login. As a variable every command of the agent could read it. */
export const KEY_VARIABLE = 'CODEX_API_KEY';

type Env = Readonly<Record<string, string>>;

/** What follows the command of the operator: settings that hold for this process and are written nowhere. */
export function argsFor(request: SessionRequest, inherited: Env): string[] {
  const { workspacePath, toolServer } = request;
  return [
    // Otherwise Codex enters every workspace for ever as trusted into the user's own configuration.
    ...setting('projects', table({ [workspacePath]: table({ trust_level: text('trusted') }) })),
    // Otherwise the key of the environment replaces the user's stored login.
    ...(inherited[KEY_VARIABLE] ? setting('cli_auth_credentials_store', text('ephemeral')) : []),
    ...(toolServer === null ? [] : setting(`mcp_servers.${toolServer.name}`, serverTable(toolServer, inherited))),
  ];
}

/** The environment of the session's process. */
export function envFor(inherited: Env, request: SessionRequest): Record<string, string> {
  const { [KEY_VARIABLE]: _key, ...own } = inherited;
  const { toolServer } = request;
  const passed = toolServer === null ? {} : Object.fromEntries(passedByName(toolServer, inherited));
  return runEnvironment({ ...own, ...passed }, request);
}

export interface TurnSubject {
  readonly threadId: string;
  readonly workspacePath: string;
  readonly options: Options;
}

/** What a turn is started with. */
export function turnParams({ threadId, workspacePath, options }: TurnSubject, prompt: string): Record<string, unknown> {
  return {
    threadId,
    input: [{ type: 'text', text: prompt, text_elements: [] }],
    cwd: workspacePath,
    approvalPolicy: options.approval_policy,
    sandboxPolicy: sandboxPolicy(options, workspacePath),
    ...(options.effort === undefined ? {} : { effort: options.effort }),
  };
}

/** A thread knows its sandbox by name only; whether it may use the network is told with the turn. */
export function sandboxPolicy(
  { sandbox, network_access: networkAccess }: Options,
  workspacePath: string,
): Record<string, unknown> {
  switch (sandbox) {
    case 'read-only':
      return { type: 'readOnly', networkAccess };
    case 'workspace-write':
      return { type: 'workspaceWrite', writableRoots: [workspacePath], networkAccess };
    case 'danger-full-access':
      return { type: 'dangerFullAccess' };
  }
}

/** Nobody can approve a call under the policy `never`, so the tools of our own server need no approval. */
function serverTable(server: ToolServer, inherited: Env): string {
  const named = passedByName(server, inherited).map(([name]) => name);
  const spelled = Object.entries(server.env).filter(([name]) => !named.includes(name));
  return table({
    command: text(server.command),
    args: list(server.args),
    ...(spelled.length === 0 ? {} : { env: table(Object.fromEntries(spelled.map(([name, value]) => [name, text(value)]))) }),
    ...(named.length === 0 ? {} : { env_vars: list(named) }),
    default_tools_approval_mode: text('approve'),
  });
}

/** A command line can be read by every user of the machine. Only a variable that Codex needs otherwise stands there. */
function passedByName(server: ToolServer, inherited: Env): [string, string][] {
  return Object.entries(server.env).filter(([name, value]) => inherited[name] === undefined || inherited[name] === value);
}

function setting(key: string, value: string): string[] {
  return ['-c', `${key}=${value}`];
}

/** TOML on one line, https://toml.io/en/v1.0.0#inline-table. Its strings are those of JSON, but for one character. */
function text(value: string): string {
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}

function list(values: readonly string[]): string {
  return `[${values.map(text).join(',')}]`;
}

function table(entries: Readonly<Record<string, string>>): string {
  const members = Object.entries(entries).map(([key, value]) => `${/^[A-Za-z0-9_-]+$/.test(key) ? key : text(key)}=${value}`);
  return `{${members.join(',')}}`;
}
