import { realpathSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Provider } from '../../ports/provider.ts';

export const KIND = 'file';
export const DEFAULTS: Provider['defaults'] = {
  endpoint: '',
  activeStates: ['Backlog', 'Todo', 'In Progress'],
  terminalStates: ['Done', 'Canceled', 'Duplicate'],
  activeStatesGateDispatch: true,
};

/** The block `file`. That the path is there is a check of its own, with its own message. */
export const OPTIONS = z.strictObject({
  path: z.string().describe('A JSON file or a directory of Markdown files, relative to the workflow file.').optional(),
});

/** The absolute path of the issues; empty when none is given. */
export function locationOf(options: Readonly<Record<string, unknown>>, workflowDir: string): string {
  const { path: given } = options;
  return typeof given === 'string' && given.trim() !== '' ? path.resolve(workflowDir, given.trim()) : '';
}

/** The same with every link followed, also where the last parts do not exist yet: two paths to one place are one. */
export function realLocationOf(options: Readonly<Record<string, unknown>>, workflowDir: string): string {
  const location = locationOf(options, workflowDir);
  return location === '' ? '' : realPath(location);
}

function realPath(location: string): string {
  try {
    return realpathSync(location);
  } catch {
    const parent = path.dirname(location);
    return parent === location ? location : path.join(realPath(parent), path.basename(location));
  }
}
