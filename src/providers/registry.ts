import type { Provider } from '../ports/provider.ts';
import { fileProvider } from './file/index.ts';
import { linearProvider } from './linear/index.ts';
import { gitlabProvider } from './gitlab/index.ts';
import { githubProvider } from './github/index.ts';
import { giteaProvider } from './gitea/index.ts';
import { jiraProvider } from './jira/index.ts';

/** Every tracker kind, alphabetical. */
export const PROVIDERS: readonly Provider[] = [
  fileProvider,
  linearProvider,
  gitlabProvider,
  githubProvider,
  giteaProvider,
  jiraProvider,
];
