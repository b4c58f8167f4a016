import { stateIn } from '../../domain/model/issue.ts';
import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { DEFAULTS, KEY_FAULT, parseKey, parseSite } from './settings.ts';

type Check = (input: ProviderCheckInput) => readonly Problem[];

/** What is found without the network: errors first, then warnings. Missing keys are reported before, for every kind. */
export function check(input: ProviderCheckInput): readonly Problem[] {
  return CHECKS.flatMap((check) => check(input));
}

const CHECKS: readonly Check[] = [endpointInvalid, keyFormat, projectFormat, endpointInsecure, overlap];

function endpointInvalid({ endpoint }: ProviderCheckInput): readonly Problem[] {
  const address = endpoint === null ? null : parseSite(endpoint);
  return address && 'fault' in address ? [error('endpoint', 'invalid', `tracker.endpoint ${address.fault}`)] : [];
}

function keyFormat({ apiKey }: ProviderCheckInput): readonly Problem[] {
  if (!apiKey?.trim() || parseKey(apiKey)) return [];
  return [error('api_key', 'format', `tracker.api_key ${KEY_FAULT}`)];
}

function projectFormat({ project }: ProviderCheckInput): readonly Problem[] {
  if (!project || project.trim() !== '') return [];
  return [error('project', 'format', 'tracker.project is only white space: write the key of the project, such as ABC')];
}

function endpointInsecure({ endpoint }: ProviderCheckInput): readonly Problem[] {
  const address = parseSite(endpoint ?? '');
  if ('fault' in address || address.secure) return [];
  return [warning('endpoint', 'insecure', `tracker.endpoint ${address.shown} is http: the token is sent in cleartext`)];
}

function overlap({ activeStates, terminalStates }: ProviderCheckInput): readonly Problem[] {
  const terminal = terminalStates ?? DEFAULTS.terminalStates;
  const both = (activeStates ?? DEFAULTS.activeStates).filter((state) => stateIn(terminal, state));
  if (both.length === 0) return [];
  const names = both.map((state) => JSON.stringify(state)).join(', ');
  return [
    warning('states', 'overlap', `${names} stand in both tracker.active_states and tracker.terminal_states`, 'terminal_states'),
  ];
}

function error(key: string, fault: string, message: string): Problem {
  return { severity: 'error', check: `tracker.${key}.${fault}`, message, key: ['tracker', key] };
}

function warning(subject: string, fault: string, message: string, key = subject): Problem {
  return { severity: 'warning', check: `tracker.${subject}.${fault}`, message, key: ['tracker', key] };
}
