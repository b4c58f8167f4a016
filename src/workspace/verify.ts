import { WorkspaceError } from '../domain/model/errors.ts';
import type { VerificationCheck } from '../ports/workspace.ts';
import { hasDirectory, requireUnderRoot } from './containment.ts';
import { runScript } from './script.ts';
import type { ScriptDeps } from './script.ts';

/** Runs one of the operator's own checks on the agent's work. The output ends with what became of it, for the agent to read. */
export async function runVerification(
  check: VerificationCheck,
  deps: ScriptDeps & { readonly root: string },
  signal: AbortSignal,
): Promise<{ readonly ok: boolean; readonly output: string }> {
  requireUnderRoot(deps.root, check.path);
  hasDirectory(check.path);
  return runCheck(check, deps, signal);
}

/** The same where nothing can be looked at before, as on another host. */
export async function runCheck(
  check: VerificationCheck,
  deps: ScriptDeps,
  signal: AbortSignal,
): Promise<{ readonly ok: boolean; readonly output: string }> {
  const script = {
    text: check.command,
    cwd: check.path,
    variables: { FORAY_WORKSPACE: check.path },
    timeoutMs: check.timeoutMs,
    timeoutKey: 'self_review.verification_timeout_ms',
    owner: check.runId,
  };
  const { failure, output } = await runScript(script, deps, signal);
  if (signal.aborted) throw new WorkspaceError('verification', 'stopped before it finished', { retryable: true });
  return failure === null ? { ok: true, output } : { ok: false, output: `${output}\n[${failure}]`.trim() };
}
