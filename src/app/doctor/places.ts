import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from '../../domain/model/settings.ts';
import { endGroup } from '../../lib/process/index.ts';
import { startRemote } from '../../lib/ssh/index.ts';
import { fleetProblem } from '../../runners/queue/leader/known-workers.ts';
import { hostTarget } from '../adapters/build-hosts.ts';
import { finding, ok, type Finding } from './finding.ts';
import { fleetOf, type SurveyDeps } from '../commands/survey.ts';
import { errorText } from '../../lib/error-text.ts';
import type { GoodWorkflow } from '../workflow.ts';

/** Where runs live that do not live on this machine, and whether any of those places would take one. */
export async function checkPlaces(workflow: GoodWorkflow, deps: SurveyDeps): Promise<readonly Finding[]> {
  const { settings } = workflow;
  return settings.agent.runOn === null ? checkHosts(settings, deps) : checkWorkers(workflow, deps);
}

/** A database that cannot be read is told of by itself. */
async function checkWorkers(workflow: GoodWorkflow, { version }: SurveyDeps): Promise<readonly Finding[]> {
  const { kind, runOn } = workflow.settings.agent;
  const fleet = await fleetOf(workflow).catch(() => null);
  const problem = fleet && runOn && fleetProblem(fleet.workers, runOn, version);
  if (problem === null) return [ok('agent', `${kind} runs elsewhere`)];
  return [finding('error', 'agent', problem, 'start a worker that may take these runs, as docs/workers.md says')];
}

/** One host that cannot be used is the others' burden; where none can, nothing runs. */
async function checkHosts({ agent, worker }: Settings, { env }: SurveyDeps): Promise<readonly Finding[]> {
  const problems = await Promise.all(worker.sshHosts.map((name) => hostProblem(name, env)));
  const found = problems.filter((problem) => problem !== null);
  if (found.length === 0) return [ok('agent', `${agent.kind} runs elsewhere`)];
  const severity = found.length === problems.length ? 'error' : 'warning';
  return found.map((problem) =>
    finding(severity, 'worker.ssh_hosts', problem, 'try ssh to it as this user; its key must be in known_hosts'),
  );
}

const HOST_MS = 8_000;

/** Does nothing there but to begin, once. */
async function hostProblem(name: string, env: SurveyDeps['env']): Promise<string | null> {
  let pid: number | null = null;
  const over = new AbortController();
  const trying = startRemote(hostTarget(name, env), {
    command: 'true',
    args: [],
    cwd: '/',
    env: {},
    onSpawn: (started) => (pid = started),
  }).then(
    async (child) => (await child.settled, null),
    (error: unknown) => errorText(error),
  );
  const late = delay(HOST_MS, `cannot work on ${name} over ssh: no answer within ${HOST_MS / 1_000} s`, { signal: over.signal });
  const problem = await Promise.race([trying, late]);
  over.abort();
  late.catch(() => {});
  if (pid !== null) await endGroup(pid, { graceMs: 0 });
  return problem;
}
