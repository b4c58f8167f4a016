import { findProgram, startProcess } from '../../lib/process/index.ts';
import type { AgentDeps } from '../../ports/agent.ts';
import type { ProcessHost } from '../../ports/process.ts';

/** Where an agent's programs run. */
export function hostOf({ host }: Pick<AgentDeps, 'host'>): ProcessHost {
  return host ?? THIS_MACHINE;
}

const THIS_MACHINE: ProcessHost = { start: startProcess, findProgram };
