import { describeAgent } from '../../../test/contracts/agent.ts';
import { createFakeClaude, FIXTURES, SETTINGS } from '../../../test/support/claude-code/fake-claude.ts';
import { agentKind } from './index.ts';

/** Does what the prompt says. */
const SCRIPT = `case "$(cat)" in
  work) cat "${FIXTURES}/success.jsonl" ;;
  hang) head -n 2 "${FIXTURES}/success.jsonl"; while :; do sleep 0.05; done ;;
esac`;

describeAgent('claude-code', async () => {
  const fake = await createFakeClaude([SCRIPT, SCRIPT, SCRIPT]);
  const agent = agentKind.create(SETTINGS, agentKind.options.parse({}), fake.deps);
  return {
    agent,
    request: fake.request,
    prompts: { work: 'work', nothing: 'nothing', hang: 'hang' },
    has: { tools: true, processes: true },
    ledger: fake,
    close: fake.remove,
  };
});
