import { serveMcp } from '../../mcp/server.ts';

/** Serves the tools of a session to its agent, which says in the environment whose they are. */
export async function serveTools(env: NodeJS.ProcessEnv): Promise<number> {
  const { FORAY_TOOL_SOCKET: socketPath, FORAY_TOOL_TOKEN: token } = env;
  if (!socketPath || !token) {
    process.stderr.write('foray: mcp is started by agents: FORAY_TOOL_SOCKET and FORAY_TOOL_TOKEN are not set\n');
    return 2;
  }
  await serveMcp({ socketPath, token, version: FORAY_VERSION, input: process.stdin, output: process.stdout });
  return 0;
}
