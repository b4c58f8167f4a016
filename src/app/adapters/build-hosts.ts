import { loadAgentKind } from '../../agents/registry.ts';
import { FAR_SIDE_PATIENCE_MS } from '../../domain/model/lease-times.ts';
import { findProgram } from '../../lib/process/index.ts';
import { HostError, startRemote, type SshTarget } from '../../lib/ssh/index.ts';
import type { Agent } from '../../ports/agent.ts';
import type { AgentKind } from '../../ports/agent-kind.ts';
import type { ProcessHost } from '../../ports/process.ts';
import type { RunAdapters } from '../../ports/runner.ts';
import { createRemoteWorkspaces } from '../../workspace/remote/index.ts';
import { agentEnv, type AdapterDeps } from './adapter-deps.ts';
import { NO_RUN_TOOLS } from './run-tools.ts';
import type { GoodWorkflow } from '../workflow.ts';

/** What a run on another host works with in the place of what is on this machine. */
export type HostAdapters = Pick<RunAdapters, 'agent' | 'workspaces' | 'tools'>;

/** The adapters of each host of `worker.ssh_hosts`. */
export async function buildHosts(workflow: GoodWorkflow, deps: AdapterDeps): Promise<ReadonlyMap<string, HostAdapters>> {
  const { agent, worker } = workflow.settings;
  const kind = await loadAgentKind(agent.kind);
  return new Map(worker.sshHosts.map((name) => [name, buildHost(name, kind, workflow, deps)]));
}

/** With workers or hosts, no program of the agent is needed on this machine but `ssh`. */
export function withHosts(agent: Agent, { settings }: GoodWorkflow, { env, hosts, workers }: AdapterDeps): Agent {
  const { sshHosts } = settings.worker;
  const { runOn } = settings.agent;
  if (runOn !== null) return { ...agent, findProblem: async () => workers?.()?.problemOf(runOn) ?? null };
  if (sshHosts.length === 0) return agent;
  const findProblem = async (): Promise<string | null> => {
    if ((await findProgram('ssh', sshEnv(env))) !== 'found') {
      return 'cannot find the program ssh: install the OpenSSH client, or remove worker.ssh_hosts';
    }
    return hosts.problemOf(sshHosts);
  };
  return { ...agent, findProblem };
}

function buildHost(name: string, kind: AgentKind, workflow: GoodWorkflow, deps: AdapterDeps): HostAdapters {
  const { agent, agentOptions, worker, workspace } = workflow.settings;
  const { clock, logger, processes, markKey, secrets } = deps;
  const host = { name, ...processHost(name, deps) };
  const given = new Set([...(kind.login?.variables ?? []), ...worker.sshEnv]);
  const env = Object.fromEntries(Object.entries(agentEnv(workflow, deps.env)).filter(([variable]) => given.has(variable)));
  return {
    agent: kind.create(agent, agentOptions, { env, clock, logger, processes, host, secrets: secrets.values }),
    workspaces: createRemoteWorkspaces({
      host,
      root: worker.sshRoot,
      removedDays: workspace.removedDays,
      logger,
      processes,
      markKey,
      maskSecrets: secrets.mask,
    }),
    // They are carried out by the daemon, which is not on that host.
    tools: NO_RUN_TOOLS,
  };
}

/** Starts programs on a host, and remembers whether it answers. */
function processHost(name: string, { env, hosts }: AdapterDeps): ProcessHost {
  const target = hostTarget(name, env);
  return {
    // Looked for when it is started: that is the only time at which somebody is connected.
    findProgram: () => Promise.resolve('found'),
    async start(options) {
      try {
        const started = await startRemote(target, options);
        hosts.heard(name);
        return started;
      } catch (error) {
        if (error instanceof HostError) hosts.failed(name, error.message);
        throw error;
      }
    },
  };
}

/** How a host is reached. */
export function hostTarget(name: string, env: AdapterDeps['env']): SshTarget {
  return { host: name, env: sshEnv(env), markVariable: 'FORAY_RUN_ID', patienceMs: FAR_SIDE_PATIENCE_MS };
}

/** What the SSH client sees of our environment: nothing that its configuration could send along by mistake. */
const SSH_VARIABLES = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'SSH_AUTH_SOCK',
  'XDG_RUNTIME_DIR',
  'KRB5CCNAME',
  'FORAY_DAEMON',
];

function sshEnv(env: AdapterDeps['env']): Record<string, string> {
  return Object.fromEntries(SSH_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
