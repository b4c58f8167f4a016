import { eventually } from '../support/daemon.ts';
import { openDelivery } from '../e2e/delivery-stage.ts';
import { forgeEnv } from '../e2e/reactions/forge.ts';
import type { OpenScenario, Scenario } from './crash-matrix.ts';

/** The work of a run is pushed and proposed, red checks lead to another run, and its work goes to the same request. */
export function deliveryScenario(kind: string, bounded: readonly string[]): Scenario {
  return { name: `delivery ${kind}`, bounded, open: (cli) => openScenario(kind, cli) };
}

async function openScenario(kind: string, cli: string): Promise<OpenScenario> {
  const { ground, forge, origin, opened, write, close } = await openDelivery(kind, { cli });
  const id = forge.addIssue('Add a page');
  await write('echo work >> work', { reactions: `ci_failure: { provider: ${kind}, poll_interval_ms: 200 }` });
  const isHandedOff = (): boolean => forge.issueOf(id).labels.includes(forge.handoff);
  let red = '';
  return {
    ground,
    env: forgeEnv(forge),
    async play() {
      await eventually(isHandedOff, Boolean, 'the handoff');
      red = forge.head();
      forge.ci(forge.number(), 'red');
      await eventually(forge.head, (head) => head !== red, 'the mended head');
    },
    async faults() {
      const count = opened().length;
      const head = await origin.git('origin.git', 'rev-parse', `foray/${id}`);
      const ahead = await origin.git('origin.git', 'rev-list', '--count', `${red}..${head}`);
      return [
        ...(count === 1 ? [] : [`${count} requests were opened`]),
        ...(forge.head() === head ? [] : ['the request is not at the head of the branch']),
        ...(Number(ahead) > 0 ? [] : ['the mended head does not follow the red one']),
        ...(isHandedOff() ? [] : ['the issue left its handoff state']),
      ];
    },
    close,
  };
}
