import type { Provider } from '../ports/provider.ts';
import { fileProvider } from './file/index.ts';
import { graphqlProvider } from './graphql/index.ts';
import { nsprojectProvider } from './nsproject/index.ts';
import { repoissuesProvider } from './repoissues/index.ts';
import { selfhostedProvider } from './selfhosted/index.ts';
import { wfboardProvider } from './wfboard/index.ts';

/** Every tracker kind, alphabetical. */
export const PROVIDERS: readonly Provider[] = [
  fileProvider,
  graphqlProvider,
  nsprojectProvider,
  repoissuesProvider,
  selfhostedProvider,
  wfboardProvider,
];
