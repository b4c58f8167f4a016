import { describeAgent } from '../../../test/contracts/agent.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import type { Agent } from '../../ports/agent.ts';
import { agentKind } from './index.ts';

const quiet = (): void => {};
const DEPS = {
  env: {},
  clock: { now: () => 1_000 },
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  processes: { started: quiet, ended: quiet },
};

function agentOf(outcomes: readonly string[]): Agent {
  return agentKind.create(settingsWith().agent, agentKind.options.parse({ tool_calls_per_turn: 1, outcomes }), DEPS);
}

/** The mock goes by its script and not by its prompts: each prompt has an agent of its own. */
function byPrompt(): Agent {
  const agents: Readonly<Record<string, Agent>> = { work: agentOf([]), nothing: agentOf(['nothing']), hang: agentOf(['hang']) };
  return {
    ...agentOf([]),
    async startSession(request, signal) {
      const names = Object.keys(agents);
      const sessions = await Promise.all(Object.values(agents).map((agent) => agent.startSession(request, signal)));
      const [first] = sessions;
      if (first === undefined) throw new Error('no session');
      return {
        ...first,
        runTurn: (turn, onEvent, stop) => (sessions[names.indexOf(turn.prompt)] ?? first).runTurn(turn, onEvent, stop),
        stop: async () => void (await Promise.all(sessions.map((session) => session.stop()))),
      };
    },
  };
}

describeAgent('mock', async () => ({
  agent: byPrompt(),
  request: {
    runId: 'r',
    issueId: '1',
    issueIdentifier: 'A-1',
    workspacePath: '/nowhere',
    resumeSessionId: null,
    toolServer: null,
  },
  prompts: { work: 'work', nothing: 'nothing', hang: 'hang' },
  has: { tools: true, processes: false },
  ledger: { started: [], ended: [] },
  close: () => Promise.resolve(),
}));
