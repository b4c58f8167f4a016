import path from 'node:path';
import { openCodeCache } from './code-cache.ts';
import { createPartLoader } from './parts.ts';

/** Stands in for `command-line.ts` in the built command: loads the part that it became. */
const cache = openCodeCache({ env: process.env, home: __dirname, build: FORAY_BUILD, command: commandName() });
const load = createPartLoader({ folder: path.join(__dirname, 'chunks'), outside: require, cache, together: FORAY_TOGETHER });
const commandLine = load(FORAY_COMMAND_LINE) as typeof import('../command-line.ts');

export const { main } = commandLine;

/** What is not a word is the workflow file of a run. */
function commandName(): string {
  const [, , first = ''] = process.argv;
  return /^[a-z]{1,20}$/.test(first) ? first : 'run';
}
