import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { Board, BoardState } from '../../ports/provider.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { createClient } from './client.ts';
import { TEAM_STATES } from './operations.ts';
import { TEAM_STATE } from './schema.ts';
import { readSettings } from './settings.ts';

const STAGES: Readonly<Record<string, BoardState['stage']>> = {
  triage: null,
  backlog: null,
  unstarted: 'waiting',
  started: 'working',
  completed: 'done',
  canceled: 'done',
  duplicate: 'done',
};

/** The workflow states of the team. New ones are made in its settings. */
export async function readBoard(settings: TrackerSettings, deps: ProviderDeps, signal: AbortSignal): Promise<Board> {
  const { access, teamKey } = readSettings(settings);
  const client = createClient(access, deps);
  const states = await client.readAll('team states', TEAM_STATE, async (after) => {
    const [team] = (await client.run(TEAM_STATES, { teamKey, after }, signal)).teams.nodes;
    if (!team) throw client.fault('tracker_payload_error', `unknown team key: ${JSON.stringify(teamKey)}`);
    return team.states;
  });
  const shown = states.map(({ name, type }) => ({ name, stage: stageOf(type ?? '') }));
  return { what: 'states', states: shown, createsMissing: false };
}

function stageOf(word: string): BoardState['stage'] {
  return Object.hasOwn(STAGES, word) ? (STAGES[word] ?? null) : null;
}
