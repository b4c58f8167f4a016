import type { Provider } from '../../ports/provider.ts';
import { checkSettings, optionsSchema } from './settings.ts';
import { createFileTracker } from './tracker.ts';

/** Issues in a JSON file or in a directory of Markdown files. No credentials, no network. */
export const fileProvider: Provider = {
  kind: 'file',
  aliases: [],
  requires: { apiKey: false, project: false, endpoint: false },
  expansion: { endpoint: 'none', apiKey: 'none', project: 'none' },
  defaults: {
    endpoint: '',
    activeStates: ['Backlog', 'Todo', 'In Progress'],
    terminalStates: ['Done', 'Canceled', 'Duplicate'],
    activeStatesGateDispatch: true,
  },
  options: optionsSchema,
  check: checkSettings,
  createTracker: createFileTracker,
};
