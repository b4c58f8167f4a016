import { describeAgent } from '../../../test/contracts/agent.ts';
import { createFakeCodex, say } from '../../../test/support/codex/fake-app-server.ts';
import * as recorded from '../../../test/support/codex/recorded.ts';

describeAgent('codex', async () => {
  const fake = createFakeCodex();
  const pidsOf = (word: string): number[] =>
    fake.ledger.filter((line) => line.startsWith(word)).map((line) => Number(line.split(' ')[1]));
  return {
    agent: fake.agent({ refuse: { 'thread/resume': 'no rollout found' } }),
    request: fake.request(),
    prompts: {
      work: JSON.stringify(say(recorded.WORKING_TURN)),
      nothing: JSON.stringify(say(recorded.turnEnded('completed'))),
      hang: JSON.stringify([...say(recorded.message('at work')), { untilInterrupted: true }]),
    },
    has: { tools: true, processes: true },
    ledger: {
      get started() {
        return pidsOf('started');
      },
      get ended() {
        return pidsOf('ended');
      },
    },
    close: fake.cleanUp,
  };
});
