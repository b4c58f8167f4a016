import { serveMcp } from '../../mcp/server.ts';

/** The tool server of one run. Agents start it; what it may do is decided by the token they were given. */
export async function mcp(): Promise<number> {
  const { FORAY_TOOL_SOCKET: socketPath, FORAY_TOOL_TOKEN: token } = process.env;
  if (!socketPath || !token) {
    process.stderr.write('foray mcp is started by agents: FORAY_TOOL_SOCKET and FORAY_TOOL_TOKEN are not set\n');
    return 2;
  }
  await serveMcp({ socketPath, token, version: FORAY_VERSION, input: process.stdin, output: process.stdout });
  return 0;
}
