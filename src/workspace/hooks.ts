import { WorkspaceError } from '../domain/model/errors.ts';
import type { Logger } from '../ports/runtime.ts';
import type { WorkspaceSubject } from '../ports/workspace.ts';
import { runScript } from './script.ts';
import type { ScriptDeps } from './script.ts';

export interface HookDeps extends ScriptDeps {
  readonly logger: Logger;
}

export type HookName = 'after_create' | 'before_run' | 'after_run' | 'before_remove';

/** Runs one hook of an issue. Resolves with what went wrong, or null; either way it is logged and its group has ended. */
export type RunHook = (
  hook: HookName,
  subject: WorkspaceSubject,
  workspace: string,
  signal: AbortSignal,
) => Promise<WorkspaceError | null>;

const SCRIPTS = {
  after_create: 'afterCreate',
  before_run: 'beforeRun',
  after_run: 'afterRun',
  before_remove: 'beforeRemove',
} as const;

const MESSAGE_CHARACTERS = 400;
const LONGEST_TITLE = 4_096;

export function createHookRunner(deps: HookDeps): RunHook {
  return async (hook, subject, workspace, signal) => {
    const text = subject.hooks[SCRIPTS[hook]];
    if (text === null || text.trim() === '') return null;
    const attributes = { issue_id: subject.issueId, issue_identifier: subject.identifier, hook };
    deps.logger.debug('hook started', attributes);
    const startedAt = performance.now();
    const script = {
      text,
      cwd: workspace,
      variables: variablesOf(subject, workspace),
      timeoutMs: subject.hooks.timeoutMs,
      timeoutKey: 'hooks.timeout_ms',
      owner: `hook ${hook} of ${subject.identifier}`,
    };
    const { failure, output } = await runScript(script, deps, signal);
    const durationMs = Math.round(performance.now() - startedAt);
    if (failure === null) {
      deps.logger.debug('hook completed', { ...attributes, duration_ms: durationMs });
      return null;
    }
    deps.logger.warn('hook failed', { ...attributes, reason: failure, duration_ms: durationMs, hook_output: output });
    return new WorkspaceError(`hook ${hook}`, messageOf(failure, output), { retryable: true });
  };
}

function variablesOf(subject: WorkspaceSubject, workspace: string): Record<string, string> {
  return {
    FORAY_ISSUE_ID: asVariable(subject.issueId),
    FORAY_ISSUE_IDENTIFIER: asVariable(subject.identifier),
    FORAY_ISSUE_TITLE: asVariable(subject.title).slice(0, LONGEST_TITLE),
    FORAY_WORKSPACE: workspace,
    FORAY_ATTEMPT: String(subject.attempt),
  };
}

/** A variable cannot hold a NUL; text from a tracker can. */
function asVariable(text: string): string {
  return text.replaceAll('\0', '');
}

/** The record in the log has the whole output; a message is read in one line. */
function messageOf(failure: string, output: string): string {
  const end = output
    .split(/\s*\n\s*/)
    .join(' | ')
    .slice(-MESSAGE_CHARACTERS);
  return end === '' ? failure : `${failure}: ${end}`;
}
