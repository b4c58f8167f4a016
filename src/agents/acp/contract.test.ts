import { describeAgent } from '../../../test/contracts/agent.ts';
import { createStage } from '../../../test/support/acp/scripted-agent.ts';

/** Does what the prompt says. */
const SCRIPT = `
info.name = 'OpenCode';
handlers['session/prompt'] = async ({ prompt: [{ text }] }) => {
  if (text === 'nothing') return { stopReason: 'end_turn' };
  say('at work');
  if (text === 'hang') await forever();
  update({ sessionUpdate: 'tool_call', toolCallId: 't' + Math.random(), title: 'write', kind: 'edit', status: 'completed', rawInput: { path: 'a.txt' } });
  return { stopReason: 'end_turn', usage: { inputTokens: 10, outputTokens: 2, totalTokens: 12 } };
};`;

describeAgent('acp', async () => {
  const stage = await createStage();
  return {
    agent: await stage.agent(SCRIPT),
    request: stage.request(),
    prompts: { work: 'work', nothing: 'nothing', hang: 'hang' },
    has: { tools: true, processes: true },
    ledger: {
      get started() {
        return stage.ledger.started.map(([pid]) => pid);
      },
      ended: stage.ledger.ended,
    },
    close: stage.remove,
  };
});
