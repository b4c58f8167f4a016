import { statSync } from 'node:fs';
import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { locationOf } from './settings.ts';

/** What is found without reading any issue. */
export function check(input: ProviderCheckInput): readonly Problem[] {
  const location = locationOf(input.options, input.workflowDir ?? process.cwd());
  const problem = location === '' ? MISSING_KEY : findPathProblem(location);
  return [...(problem === null ? [] : [problem]), ...(input.queryFilter ? [UNUSED_FILTER] : [])];
}

const KEY = ['file', 'path'];

const MISSING_KEY: Problem = {
  severity: 'error',
  check: 'file.path',
  message: 'file.path is required for tracker kind file: a JSON file with a list of issues, or a directory of Markdown files',
  key: KEY,
};

const UNUSED_FILTER: Problem = {
  severity: 'warning',
  check: 'tracker.query_filter.unused',
  message: 'tracker.query_filter has no meaning for tracker kind file and is ignored',
  key: ['tracker', 'query_filter'],
};

/** A path that is not there yet may come later; one that can never hold issues is an error. */
function findPathProblem(location: string): Problem | null {
  const problem = (severity: Problem['severity'], check: string, message: string): Problem => ({
    severity,
    check,
    message,
    key: KEY,
  });
  try {
    const stats = statSync(location);
    if (stats.isFile() || stats.isDirectory()) return null;
    return problem('error', 'file.path', `file.path ${location} is neither a file nor a directory`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      return {
        ...problem('warning', 'file.path.missing', `file.path ${location} does not exist yet; polls fail until it does`),
        isAdvice: true,
      };
    return problem('error', 'file.path', `file.path ${location} cannot be used: ${message}`);
  }
}
