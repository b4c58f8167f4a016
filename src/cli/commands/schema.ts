import type { Command } from '../command.ts';

export const command: Command = {
  name: 'schema',
  summary: 'print the JSON Schema of the front matter, for editors',
  usage: '',
  flags: [],
  example: 'foray schema > foray.schema.json',
  takes: { least: 0, most: 0 },
  async run() {
    return (await import('../actions/schema.ts')).showSchema();
  },
};
