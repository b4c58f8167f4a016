import type { ProviderFacts } from '../ports/provider.ts';
import { facts as file } from './file/facts.ts';
import { facts as gitea } from './gitea/facts.ts';
import { facts as github } from './github/facts.ts';
import { facts as gitlab } from './gitlab/facts.ts';
import { facts as jira } from './jira/facts.ts';
import { facts as linear } from './linear/facts.ts';

/**
 * What every tracker kind says of itself, alphabetical by kind: the order in which lists of kinds are shown. Enough to
 * check a workflow file, and many times smaller than the kinds whole.
 */
export const PROVIDER_FACTS: readonly ProviderFacts[] = [file, linear, gitlab, github, gitea, jira];
