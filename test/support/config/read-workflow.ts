import { fakeContext } from './fake-kinds.ts';
import { formatProblem } from '../../../src/config/format.ts';
import { type LoadContext, type LoadedWorkflow, readWorkflow } from '../../../src/config/workflow.ts';

export const FILE_TRACKER = 'tracker: { kind: file, active_states: [todo] }\nfile: { path: issues.json }\n';
export function read(yaml: string, context?: Partial<LoadContext>, body = 'Do it.'): LoadedWorkflow {
  return readWorkflow(`---\n${yaml}\n---\n${body}\n`, '/srv/team a/WORKFLOW.md', fakeContext(context));
}
export function lines(yaml: string, context?: Partial<LoadContext>): string[] {
  return read(yaml, context).problems.map(formatProblem);
}
/** What a valid file with this addition prints. */
export function added(yaml: string): string[] {
  return lines(`${FILE_TRACKER}${yaml}`);
}
