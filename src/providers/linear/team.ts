import { normalState, sameState } from '../../domain/model/issue.ts';
import { nearestWord } from '../../lib/nearest-word.ts';
import type { LogAttributes, Logger } from '../../ports/runtime.ts';
import type { LinearClient } from './client.ts';
import { TEAM_STATES } from './operations.ts';
import type { WireTeamState } from './schema.ts';
import { TEAM_STATE } from './schema.ts';
import type { ConfiguredStates } from './settings.ts';
import { KIND } from './settings.ts';

/** The configured team as the remote has it. */
export interface Team {
  readonly id: string;
  /** The state of this name, whatever its case. */
  stateNamed(name: string): WireTeamState | undefined;
  /** The team's own spelling of these names: the remote's filter looks at case. Names it does not have are left out. */
  spellingsOf(names: readonly string[]): readonly string[];
  readonly names: readonly string[];
  /** All of its states, for messages. */
  readonly shown: string;
}

/** Reads the team once and remembers it. A failure is not remembered: the next call tries again. */
export interface TeamReader {
  read(signal: AbortSignal): Promise<Team>;
  /**
   * Where what is remembered of a state may be wrong. It is remembered instead where it has one of this name: what else changed
   * meanwhile stops nothing that goes on.
   */
  readAgain(state: string, signal: AbortSignal): Promise<Team>;
}

export interface TeamReaderParts {
  readonly client: LinearClient;
  readonly teamKey: string;
  readonly states: ConfiguredStates;
  readonly logger: Logger;
}

export function createTeamReader(parts: TeamReaderParts): TeamReader {
  let known: Team | undefined;
  return {
    async read(signal) {
      if (known) return known;
      const team = await readTeam(parts, signal);
      refuseUnknownStates(parts, team);
      // Of several calls that found nothing remembered, the first to end speaks for all.
      if (!known) warnOfCategories(parts, team);
      return (known ??= team);
    },
    async readAgain(state, signal) {
      const team = await readTeam(parts, signal);
      if (team.stateNamed(state)) known = team;
      return team;
    },
  };
}

async function readTeam({ client, teamKey }: TeamReaderParts, signal: AbortSignal): Promise<Team> {
  let id = '';
  const states = await client.readAll('team states', TEAM_STATE, async (after) => {
    const [team] = (await client.run(TEAM_STATES, { teamKey, after }, signal)).teams.nodes;
    if (!team) {
      const remedy =
        'tracker.project is the part of an issue name before the number, and the API key must be allowed to see the team';
      throw client.fault('tracker_payload_error', `unknown team key: ${JSON.stringify(teamKey)}; ${remedy}`);
    }
    id = team.id;
    return team.states;
  });
  const stateNamed = (name: string) =>
    states.find((state) => state.name === name) ?? states.find((state) => sameState(state.name, name));
  return {
    id,
    stateNamed,
    spellingsOf: (names) => {
      const wanted = new Set(names.map(normalState));
      return [...new Set(states.map(({ name }) => name).filter((name) => wanted.has(normalState(name))))];
    },
    names: states.map(({ name }) => name),
    shown: states.map(({ name }) => JSON.stringify(name)).join(', '),
  };
}

/** The error for names that the team has no state of. */
export function unknownStates(client: LinearClient, team: Team, teamKey: string, names: readonly string[]) {
  const missing = names.map((name) => JSON.stringify(name)).join(', ');
  const near = new Set(names.map((name) => nearestWord(name, team.names)).filter((name) => name !== null));
  const hint = near.size === 0 ? ';' : `; did you mean ${[...near].map((name) => JSON.stringify(name)).join(', ')}?`;
  const detail = `state name not found in team: ${missing}${hint} team ${teamKey} has ${team.shown || 'no states'}`;
  return client.fault('tracker_payload_error', detail, { unknownStates: names });
}

function refuseUnknownStates({ client, teamKey, states }: TeamReaderParts, team: Team): void {
  const single = [states.handoff, states.noChange].filter((state) => state !== null);
  const configured = [...states.active, ...states.terminal, ...single];
  const missing = configured.filter((name) => !team.stateNamed(name));
  if (missing.length > 0) throw unknownStates(client, team, teamKey, [...new Set(missing)]);
}

/** Categories of states in which the remote takes an issue for finished. */
const FINISHED_CATEGORIES: readonly string[] = ['completed', 'canceled', 'duplicate'];

// Selection goes by name, so an odd category changes nothing; it is a likely mistake all the same.
function warnOfCategories({ states, teamKey, logger }: TeamReaderParts, team: Team): void {
  const warn = (names: readonly string[], finished: boolean, message: string): void => {
    for (const name of names) {
      const state = team.stateNamed(name);
      if (!state || FINISHED_CATEGORIES.includes(state.type ?? '') !== finished) continue;
      const facts: LogAttributes = { tracker_kind: KIND, project: teamKey, state: state.name, category: state.type ?? '' };
      logger.warn(message, facts);
    }
  };
  warn(states.active, true, 'active state is of a finished category');
  warn(states.terminal, false, 'terminal state is of an unfinished category');
}
