import type { Env } from '../config/expand.ts';
import { formatProblem } from '../config/format.ts';
import { watchWorkflow } from '../config/watch.ts';
import type { Notice } from '../domain/model/notice.ts';
import type { Logger } from '../ports/runtime.ts';
import { buildAdapters, type BuiltAdapters, type AdapterDeps } from './build-adapters.ts';
import { readWorkflowFile, requireGood, WorkflowFault } from './workflow.ts';

export interface ReloadDeps {
  readonly env: Env;
  readonly logger: Logger;
  readonly announce: (notice: Notice) => void;
  readonly adapterDeps: AdapterDeps;
}

/** Applies edits of the workflow file while the daemon runs. A broken edit is reported once; the last good one stays. */
export function followWorkflow(deps: ReloadDeps, first: BuiltAdapters, onGood: (adapters: BuiltAdapters) => void): () => void {
  const stopped = new AbortController();
  const { path, digest } = first.workflow;
  let current = first;

  async function apply(): Promise<void> {
    try {
      const workflow = requireGood(await readWorkflowFile(path, deps.env));
      const next = buildAdapters(workflow, deps.adapterDeps, current);
      if (next.tracker !== current.tracker) await next.tracker.preflight?.(stopped.signal);
      warnOfRestart(current, next, deps.logger);
      current = next;
      onGood(next);
      deps.announce({ name: 'workflow:file:reloaded', facts: { path } });
    } catch (error) {
      if (stopped.signal.aborted) return;
      deps.announce({ name: 'workflow:file:rejected', facts: { path, problems: reasonsOf(error) } });
    }
  }

  watchWorkflow(path, { onChange: () => void apply(), seen: digest }, stopped.signal);
  return () => stopped.abort();
}

function reasonsOf(error: unknown): readonly string[] {
  if (error instanceof WorkflowFault) {
    return error.problems.filter((problem) => problem.severity === 'error').map((problem) => formatProblem(problem));
  }
  return [error instanceof Error ? error.message : String(error)];
}

/** Some settings are read once, at start. */
function warnOfRestart(before: BuiltAdapters, after: BuiltAdapters, logger: Logger): void {
  const [old, next] = [before.workflow.settings, after.workflow.settings];
  const changed = [
    JSON.stringify(old.server) !== JSON.stringify(next.server) && 'server',
    old.dbPath !== next.dbPath && 'db_path',
    JSON.stringify(old.logging) !== JSON.stringify(next.logging) && 'logging',
  ].filter((key) => key !== false);
  if (changed.length > 0) logger.warn('a changed setting takes effect at the next start', { keys: changed.join(', ') });
}
