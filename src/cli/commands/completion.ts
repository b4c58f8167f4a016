import type { Args, Command } from '../command.ts';

export const command: Command = {
  name: 'completion',
  summary: 'print the completion script of a shell',
  usage: 'SHELL',
  flags: [],
  example: 'foray completion bash > ~/.local/share/bash-completion/completions/foray',
  takes: { least: 1, most: 1 },
  async run(args: Args) {
    const { completionFor } = await import('../actions/completion.ts');
    process.stdout.write(completionFor(args.words[0] ?? ''));
    return 0;
  },
};
