import { constants } from 'node:fs';
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { AgentError } from '../../domain/model/errors.ts';
import type { SessionRequest, ToolServer } from '../../ports/agent.ts';
import type { ToolArgs } from './args.ts';

/** The name of our own tool server: an operator's file must not take it. */
export const RESERVED_SERVER = 'foray';

/** The tool servers of one session. */
export interface SessionTools extends ToolArgs {
  /** Removes the file that was written for them, which may hold secrets. */
  release(): Promise<void>;
}

/** Joins the operator's tool servers and ours. Without one of ours, the operator's file is used as it is. */
export async function prepareTools(request: SessionRequest, operatorFile: string | null): Promise<SessionTools> {
  const server = request.toolServer;
  if (server === null) return { configPath: operatorFile, serverName: null, release: () => Promise.resolve() };
  const others = operatorFile === null ? {} : await readServers(operatorFile, [RESERVED_SERVER, server.name]);
  const text = JSON.stringify({ mcpServers: { ...others, [server.name]: entryOf(server) } });
  const file = await writeFor(request.workspacePath, text);
  return { configPath: file, serverName: server.name, release: () => rm(file, { force: true }) };
}

/** What is wrong with the operator's file, or null. */
export async function findMcpProblem(operatorFile: string): Promise<string | null> {
  try {
    await readServers(operatorFile, [RESERVED_SERVER]);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** `~/` is the home of whoever the agent runs as. */
export function expandHome(file: string, env: Readonly<Record<string, string>>): string {
  return file.startsWith('~/') ? path.join(env['HOME'] ?? '/', file.slice(2)) : file;
}

function entryOf({ command, args, env }: ToolServer): object {
  return { type: 'stdio', command, args, env };
}

async function readServers(file: string, reserved: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const servers = serversOf(await contentOf(file));
  if (servers === null) throw new Error(`claude-code.mcp_config: ${file} has no map of servers under mcpServers`);
  const taken = reserved.find((name) => Object.hasOwn(servers, name));
  if (taken !== undefined) throw new Error(`claude-code.mcp_config: ${file} names a server ${taken}; that name is reserved`);
  return servers;
}

async function contentOf(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`claude-code.mcp_config: cannot read ${file}: ${codeOf(error) ?? 'unknown fault'}`, { cause: error });
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own message would quote the file, secrets included.
    throw new Error(`claude-code.mcp_config: ${file} is not JSON`, { cause: error });
  }
}

function serversOf(content: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof content !== 'object' || content === null || !('mcpServers' in content)) return null;
  const { mcpServers } = content;
  if (typeof mcpServers !== 'object' || mcpServers === null || Array.isArray(mcpServers)) return null;
  return mcpServers as Readonly<Record<string, unknown>>;
}

/**
 * Into the data folder of the workspace, readable by us alone. What an agent put in the way is replaced or refused: a
 * link would lead the write elsewhere.
 */
async function writeFor(workspace: string, text: string): Promise<string> {
  const folder = path.join(workspace, '.foray');
  await mkdir(folder).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  if (!(await lstat(folder)).isDirectory()) {
    throw new AgentError({ kind: 'turn_failed', detail: `${folder} is not a directory; remove it by hand after a look at it` });
  }
  const file = path.join(folder, 'mcp.json');
  const draft = path.join(folder, `mcp-${randomUUID()}.tmp`);
  const handle = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  return file;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}
