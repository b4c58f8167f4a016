import { createPlayground, eventually, fileWorkflow } from '../support/daemon.ts';
import { empty, startServer } from '../support/http-server.ts';
import type { OpenScenario, Scenario } from './crash-matrix.ts';

/** A failure and a handoff are told to a receiver that is down at first. */
export const notifications: Scenario = { name: 'notifications', bounded: [], open };

async function open(cli: string): Promise<OpenScenario> {
  const ground = await createPlayground({ cli });
  let refusals = 2;
  const told: { readonly id: string; readonly event: string }[] = [];
  const receiver = await startServer((request) => {
    refusals -= 1;
    if (refusals >= 0) return empty(503, { 'retry-after': '1' });
    told.push(request.json() as (typeof told)[number]);
    return empty(204);
  });
  const sections = {
    agent: 'kind: mock\nmax_turns: 1\nmax_retry_backoff_ms: 100',
    mock: 'outcomes: [failed]',
    notifications: '- { url: $HOOK }',
  };
  await ground.write('WORKFLOW.md', fileWorkflow(sections));
  await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'First', state: 'todo' }]);
  const ids = (event: string): ReadonlySet<string> => new Set(told.filter((one) => one.event === event).map(({ id }) => id));
  return {
    ground,
    env: { HOOK: `${receiver.url}/hook` },
    async play() {
      await eventually(() => ids('handoff').size, Boolean, 'the news of the handoff');
    },
    // The receiver's answer may be lost with the process: then the same message comes again, known by its id.
    async faults() {
      const [handoffs, failures] = [ids('handoff').size, ids('failed').size];
      return handoffs === 1 && failures === 1 ? [] : [`${handoffs} messages of a handoff, ${failures} of a failure`];
    },
    async close() {
      await ground.cleanup();
      await receiver.close();
    },
  };
}
