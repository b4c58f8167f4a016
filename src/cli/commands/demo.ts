import { readNumber } from '../args.ts';
import type { Args, Command } from '../command.ts';

export const command: Command = {
  name: 'demo',
  summary: 'try it with made-up issues and a mock agent; no account',
  usage: '[--port N]',
  flags: [{ name: 'port', value: 'N', summary: 'serve the dashboard on port N; a free one unless given' }],
  example: 'foray demo',
  takes: { least: 0, most: 0 },
  async run(args: Args) {
    const port = readNumber('--port', args.value('port'), 65_535) ?? 0;
    return (await import('../actions/demo.ts')).demo({ port });
  },
};
