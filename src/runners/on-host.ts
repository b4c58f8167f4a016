import type { RunPlan } from '../domain/model/effect.ts';
import type { RunReport } from '../domain/model/event.ts';
import { hostPathText, shownHost } from '../domain/model/host-path.ts';

/** A report from another host for readers on this machine: its paths tell the host. `shown` is what that is called. */
export function located(said: RunReport, host: string, shown = shownHost(host)): RunReport {
  if (said.type === 'workspace-chosen') return { ...said, host: shown, workspacePath: hostPathText(host, said.workspacePath) };
  return said.type === 'run-prepared' ? { ...said, workspacePath: hostPathText(host, said.workspacePath) } : said;
}

/** Whether the run cannot go to the host that holds its workspace. */
export function isMoved({ holder }: RunPlan, host: string): boolean {
  return holder !== null && holder !== host;
}

export function movedText({ holder, resumeSessionId }: RunPlan, host: string): string {
  const conversation = resumeSessionId === null ? '' : ' and the conversation starts over';
  return `the workspace is on ${holder}, which cannot be used now: it is made anew on ${host}${conversation}`;
}
