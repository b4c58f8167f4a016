import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../../lib/error-code.ts';
import { errorText } from '../../lib/error-text.ts';

/** The name of our own tool server: an operator's file must not take it. */
const RESERVED_SERVER = 'foray';

/** What is wrong with the operator's file, or null. */
export async function findMcpProblem(operatorFile: string): Promise<string | null> {
  try {
    await checkServers(operatorFile);
    return null;
  } catch (error) {
    return errorText(error);
  }
}

/** `~/` is the home of whoever the agent runs as. */
export function expandHome(file: string, env: Readonly<Record<string, string>>): string {
  return file.startsWith('~/') ? path.join(env['HOME'] ?? '/', file.slice(2)) : file;
}

async function checkServers(file: string): Promise<void> {
  const servers = serversOf(await contentOf(file));
  if (servers === null) throw new Error(`claude-code.mcp_config: ${file} has no map of servers under mcpServers`);
  if (Object.hasOwn(servers, RESERVED_SERVER))
    throw new Error(`claude-code.mcp_config: ${file} names a server ${RESERVED_SERVER}; that name is reserved`);
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
