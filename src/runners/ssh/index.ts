import type { RunPlan } from '../../domain/model/effect.ts';
import { WorkspaceError } from '../../domain/model/errors.ts';
import type { RunAdapters, RunListener, Runner } from '../../ports/runner.ts';
import { createLocalRunner, type LocalRunnerDeps } from '../local/index.ts';
import { isMoved, located, movedText } from '../on-host.ts';
import type { SshHosts } from './hosts.ts';

export interface SshRunnerDeps extends LocalRunnerDeps {
  readonly hosts: SshHosts;
  /** The adapters of a plan whose workspaces and agents are on a host. */
  readonly adaptersOn: (plan: RunPlan, host: string) => RunAdapters;
}

/** Runs on other hosts over SSH, where the workflow names some; the attempt itself is told from here. */
export function createSshRunner({ hosts, adaptersOf, adaptersOn, killed }: SshRunnerDeps): Runner {
  const hostOf = new Map<string, string>();
  const runner = createLocalRunner({
    killed,
    adaptersOf(plan) {
      const host = hostOf.get(plan.runId);
      return host === undefined ? adaptersOf(plan) : adaptersOn(plan, host);
    },
  });

  function startOn(host: string, plan: RunPlan, hear: RunListener): void {
    hostOf.set(plan.runId, host);
    hosts.took(host);
    const ids = { issueId: plan.issue.id, runId: plan.runId };
    hear.report({ type: 'workspace-chosen', ...ids, workspacePath: '', host });
    const moves = isMoved(plan, host);
    if (moves) hear.report({ type: 'agent-spoke', ...ids, event: { type: 'notice', text: movedText(plan, host) } });
    runner.start(moves ? { ...plan, resumeSessionId: null } : plan, {
      announce: hear.announce,
      report(said) {
        if (said.type === 'run-exited') {
          hostOf.delete(plan.runId);
          hosts.gave(host);
          hosts.heardExit(host, plan, said.exit);
        }
        hear.report(located(said, host));
      },
    });
  }

  return {
    start(plan, hear) {
      const { worker } = plan.settings;
      if (worker.sshHosts.length === 0) return runner.start(plan, hear);
      const host = hosts.choose(worker, plan.holder);
      if (host === null) throw noHost(hosts.problemOf(worker.sshHosts));
      startOn(host, plan, hear);
    },
    stop: runner.stop,
  };
}

function noHost(problem: string | null): WorkspaceError {
  return new WorkspaceError('host', problem ?? 'every host of worker.ssh_hosts has all the runs it may have', {
    retryable: true,
  });
}
