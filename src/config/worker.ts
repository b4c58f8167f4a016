import type { Problem } from '../domain/model/problem.ts';
import type { AgentSettings, WorkerSettings } from '../domain/model/settings.ts';
import type { CheckedFrontMatter } from './check-front-matter.ts';
import { workflowName } from './paths.ts';
import type { Sections } from './schema.ts';

export interface ReadWorker {
  readonly settings: WorkerSettings;
  readonly problems: readonly Problem[];
}

/** The hosts that agents run on. */
export function readWorker({ sections, isFaulty }: CheckedFrontMatter, workflowPath: string): ReadWorker {
  const { worker, workspace, agent, store } = sections;
  const settings: WorkerSettings = {
    sshHosts: worker.ssh_hosts,
    sshRoot: worker.ssh_root ?? (worker.ssh_hosts.length === 0 ? '' : defaultRoot(workflowPath)),
    sshEnv: worker.ssh_env,
    maxPerHost: worker.max_concurrent_agents_per_host,
  };
  const problems = [
    ...settings.sshHosts.flatMap(hostProblem),
    ...(worker.ssh_root === undefined || isFaulty('worker.ssh_root') ? [] : rootProblem(worker.ssh_root)),
    ...settings.sshEnv.flatMap(variableProblem),
    ...(settings.sshHosts.length > 0 && workspace.repo !== undefined ? [fault('ssh_hosts', WITHOUT_REPO)] : []),
    ...(settings.sshHosts.length > 0 && agent.user !== undefined ? [fault('ssh_hosts', WITHOUT_USER)] : []),
  ];
  return { settings, problems: [...problems, ...queueProblems({ agent, store }, settings)] };
}

function defaultRoot(workflowPath: string): string {
  return `~/.local/state/foray/workspaces/${workflowName(workflowPath)}`;
}

/** What cannot be had on workers that take runs from the queue. */
function queueProblems({ agent, store }: Pick<Sections, 'agent' | 'store'>, { sshHosts }: WorkerSettings): readonly Problem[] {
  if (agent.run_on === undefined) return [];
  const refuse = (message: string): Problem => ({ severity: 'error', check: 'agent.run_on', message, key: ['agent', 'run_on'] });
  return [
    ...(store.url === undefined
      ? [refuse('needs store.url: workers take runs from a database that they share with the service')]
      : []),
    ...(sshHosts.length > 0 ? [refuse('cannot be used with worker.ssh_hosts: choose one of them')] : []),
    ...(agent.user === undefined
      ? []
      : [refuse('cannot be used with agent.user: agents run as the user of the worker, so start the worker as that user')]),
  ];
}

/** Hosts with a limit each cannot hold more sessions than all of them together. */
export function withinHosts(agent: AgentSettings, { sshHosts, maxPerHost }: WorkerSettings): AgentSettings {
  if (sshHosts.length === 0 || maxPerHost === 0) return agent;
  return { ...agent, maxConcurrentAgents: Math.min(agent.maxConcurrentAgents, sshHosts.length * maxPerHost) };
}

/** A name that begins with a dash would be an option of ssh; a colon would be read as a path. */
function hostProblem(host: string, index: number, all: readonly string[]): readonly Problem[] {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.@-]*$/.test(host)) {
    return [
      fault('ssh_hosts', `${JSON.stringify(host)} is no name of a host; write ports and addresses into the configuration of ssh`),
    ];
  }
  return all.indexOf(host) === index ? [] : [fault('ssh_hosts', `${host} is named twice`)];
}

function rootProblem(root: string): readonly Problem[] {
  const isPlain = /^(?:~\/|\/)[^\0\n]+$/.test(root) && !root.split('/').includes('..');
  return isPlain ? [] : [fault('ssh_root', 'must be an absolute path or begin with ~/, without ..')];
}

function variableProblem(name: string): readonly Problem[] {
  const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
  return isName ? [] : [fault('ssh_env', `${JSON.stringify(name)} is no name of a variable; write it without $`)];
}

const WITHOUT_REPO = 'cannot be used with workspace.repo: fill the workspaces there by hooks.after_create';
const WITHOUT_USER = 'cannot be used with agent.user: agents run as the account that is logged in to, as in dev@build1';

function fault(key: string, message: string): Problem {
  return { severity: 'error', check: `worker.${key}`, message, key: ['worker', key] };
}
