import { statSync } from 'node:fs';
import { DEFAULT_WORKFLOW, FORMAT_FLAG, isJson, type Args, type Command } from '../command.ts';

export const command: Command = {
  name: 'explain',
  summary: 'why an issue is worked on or not, and what would change it',
  usage: '[IDENTIFIER] [--format text|json] [WORKFLOW.md]',
  flags: [FORMAT_FLAG],
  example: 'foray explain ENG-7',
  takes: { least: 0, most: 2 },
  async run(args: Args) {
    const [first, second] = args.words;
    const isFile = second === undefined && first !== undefined && isFileAt(first);
    const { showExplanations } = await import('../actions/explain.ts');
    return showExplanations({
      identifier: isFile ? null : (first ?? null),
      workflowPath: isFile ? first : (second ?? DEFAULT_WORKFLOW),
      asJson: isJson(args),
    });
  },
};

/** What can be the name of no file is none. */
function isFileAt(place: string): boolean {
  try {
    return statSync(place).isFile();
  } catch {
    return false;
  }
}
