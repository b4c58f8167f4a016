import type { Command } from '../command.ts';

export const command: Command = {
  name: 'mcp',
  summary: 'the tool server of a running session; agents start it',
  usage: '',
  flags: [],
  example: 'foray mcp',
  takes: { least: 0, most: 0 },
  async run() {
    const { FORAY_TOOL_SOCKET: socketPath, FORAY_TOOL_TOKEN: token } = process.env;
    if (!socketPath || !token) {
      process.stderr.write('foray: mcp is started by agents: FORAY_TOOL_SOCKET and FORAY_TOOL_TOKEN are not set\n');
      return 2;
    }
    const { serveMcp } = await import('../../mcp/server.ts');
    await serveMcp({ socketPath, token, version: FORAY_VERSION, input: process.stdin, output: process.stdout });
    return 0;
  },
};
