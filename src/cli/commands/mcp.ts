import type { Command } from '../command.ts';

export const command: Command = {
  name: 'mcp',
  summary: 'the tool server of a running session; agents start it',
  usage: '',
  flags: [],
  example: 'foray mcp',
  takes: { least: 0, most: 0 },
  async run() {
    return (await import('../actions/mcp.ts')).serveTools(process.env);
  },
};
