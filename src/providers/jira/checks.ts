import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import type { Check } from '../shared/checks.ts';
import { endpointInsecure, endpointInvalid, overlapping, quotedStates, refusal, runChecks, warning } from '../shared/checks.ts';
import { pathInAddress, writeInstead } from '../shared/project-address.ts';
import { DEFAULTS, KEY_FAULT, parseKey, parseSite } from './settings.ts';

/** What is found without the network: errors first, then warnings, each in the documented order. */
export function check(input: ProviderCheckInput): readonly Problem[] {
  return runChecks(CHECKS, input);
}

const CHECKS: readonly Check[] = [endpointInvalid(parseSite), keyFormat, projectFormat, projectAddress, insecure, overlap];

function keyFormat({ apiKey }: ProviderCheckInput): readonly Problem[] {
  if (!apiKey?.trim() || parseKey(apiKey)) return [];
  return [refusal('tracker_auth_error', 'api_key.format', `tracker.api_key ${KEY_FAULT}`)];
}

function projectFormat({ project }: ProviderCheckInput): readonly Problem[] {
  if (!project || project.trim() !== '') return [];
  const message = 'tracker.project is only white space: write the key of the project, such as ABC';
  return [refusal('missing_tracker_project', 'project.format', message)];
}

// `/projects/ABC/…`, `/browse/ABC-7`, `/jira/software/projects/ABC/boards/1`
function projectAddress({ project }: ProviderCheckInput): readonly Problem[] {
  const path = project === null ? null : pathInAddress(project);
  if (path === null) return [];
  const key = /(?:^|\/)(?:projects|browse)\/([A-Za-z][A-Za-z0-9_]*)/.exec(path)?.[1] ?? null;
  const message = `tracker.project ${JSON.stringify(project)} is an address: what belongs here is the key of the project, such as ABC`;
  return [refusal('tracker_payload_error', 'project.format', `${message}${writeInstead(key)}`)];
}

function insecure(input: ProviderCheckInput): readonly Problem[] {
  return 'fault' in parseSite(input.endpoint ?? '') ? [] : endpointInsecure(input);
}

function overlap({ activeStates, terminalStates }: ProviderCheckInput): readonly Problem[] {
  const both = overlapping(activeStates ?? DEFAULTS.activeStates, terminalStates ?? DEFAULTS.terminalStates);
  if (both.length === 0) return [];
  const message = `${quotedStates(both)} stand in both tracker.active_states and tracker.terminal_states`;
  return [warning('states.overlap', message, ['terminal_states'])];
}
