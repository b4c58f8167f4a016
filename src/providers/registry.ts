import type { Provider } from '../ports/provider.ts';
import { provider as file } from './file/index.ts';
import { provider as gitea } from './gitea/index.ts';
import { provider as github } from './github/index.ts';
import { provider as gitlab } from './gitlab/index.ts';
import { provider as jira } from './jira/index.ts';
import { provider as linear } from './linear/index.ts';

/** Every tracker kind, alphabetical by kind: the order in which lists of kinds are shown. */
export const PROVIDERS: readonly Provider[] = [file, linear, gitlab, github, gitea, jira];
