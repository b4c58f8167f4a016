import type { RunPlan } from '../../../domain/model/effect.ts';
import { NO_SETTINGS } from '../../../domain/model/no-settings.ts';
import type { Settings } from '../../../domain/model/settings.ts';

/** The plan as a worker gets it. A conversation does not move to another machine. */
export function planForWorker(plan: RunPlan, moves: boolean): RunPlan {
  return { ...plan, settings: settingsForWorker(plan.settings), ...(moves ? { resumeSessionId: null } : {}) };
}

/** What a worker is told: what a run works with, and no credential of tracker, forge, server or repository. */
function settingsForWorker({ tracker, agent, agentOptions, hooks, selfReview, workspace }: Settings): Settings {
  const { kind, identity, activeStates, terminalStates, handoffState, inProgressState } = tracker;
  return {
    ...NO_SETTINGS,
    tracker: { ...NO_SETTINGS.tracker, kind, identity, activeStates, terminalStates, handoffState, inProgressState },
    workspace: { ...NO_SETTINGS.workspace, removedDays: workspace.removedDays },
    agent,
    agentOptions,
    hooks,
    selfReview,
  };
}
