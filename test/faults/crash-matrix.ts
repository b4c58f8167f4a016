import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';
import { notifications } from './notification-scenario.ts';
import { anotherTracker, reload } from './reload-scenario.ts';
import { deliveryScenario } from './delivery-scenario.ts';
import { buildForge, FORGE_KINDS, forgeEnv, forgeTracker, forgeWorkflow, reactionsOf } from '../e2e/reactions/forge.ts';

/** A scenario that a daemon lives through, from its start to its end, and what must be true afterwards. */
export interface Scenario {
  readonly name: string;
  /** The steps that the whole suite kills at, each of which must be met; none for a scenario of the full run alone. */
  readonly bounded: readonly string[];
  open(cli: string): Promise<OpenScenario>;
}

export interface OpenScenario {
  readonly ground: Playground;
  readonly env: Readonly<Record<string, string>>;
  /** What people do meanwhile, to the end of the scenario, whoever runs. */
  play(): Promise<void>;
  /** What is wrong at the end, or nothing. */
  faults(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** What became of one crash. */
export interface CrashOutcome {
  readonly step: string;
  readonly crashed: boolean;
  readonly faults: readonly string[];
}

/** Every step that a scenario passes, in the order it first does. */
export async function stepsOf(scenario: Scenario, cli: string): Promise<readonly string[]> {
  const opened = await scenario.open(cli);
  try {
    const passed = opened.ground.path('steps');
    const daemon = await opened.ground.start(['--port', '0'], { env: { ...opened.env, FORAY_TEST_STEPS: passed } });
    await opened.play();
    await delay(LAST_STEPS_MS / 4);
    // Not those of its end, which no kill can meet.
    const steps = readFileSync(passed, 'utf8').trim().split('\n');
    await daemon.stop();
    return [...new Set(steps)];
  } finally {
    await opened.close();
  }
}

/** What is seen at the end of a scenario is not the daemon's last step yet. */
const LAST_STEPS_MS = 4_000;

/** The same scenario with a kill -9 at the step, then a daemon that takes over. */
export async function crashAt(step: string, scenario: Scenario, cli: string): Promise<CrashOutcome> {
  const opened = await scenario.open(cli);
  try {
    const args = ['--port', '0', 'WORKFLOW.md'];
    const first = opened.ground.run(args, { env: { ...opened.env, FORAY_TEST_CRASH_AT: step } });
    const played = opened.play();
    played.catch(() => {});
    const over = played.then(() => delay(LAST_STEPS_MS, { signal: null }));
    const ended = await Promise.race([first, over]);
    if ('code' in ended && ended.signal !== 'SIGKILL')
      throw new Error(`the daemon ended by itself (${ended.code}): ${ended.stderr}`);
    if (ended.signal !== 'SIGKILL') return { step, crashed: false, faults: [] };
    const second = await opened.ground.start(['--port', '0'], { env: opened.env });
    await played;
    const faults = await opened.faults();
    await second.stop();
    return { step, crashed: true, faults };
  } catch (error) {
    // Also a scenario that never ends: its step was not reached, and that is a fault.
    return { step, crashed: true, faults: [error instanceof Error ? error.message.slice(0, 300) : String(error)] };
  } finally {
    // A fake remote may complain of the request that a kill cut off: that is what was to happen.
    await opened.close().catch(() => {});
  }
}

/**
 * Steps that no kill met and should have. Which writes are stored together is chance: a unit of work of the first walk may
 * not come again, as long as a kill met each kind of its writes in another one, before or after it was stored.
 */
export function unexpectedlyMissed(outcomes: readonly CrashOutcome[]): readonly string[] {
  const stepsThat = (crashed: boolean): readonly string[] =>
    outcomes.filter((outcome) => outcome.crashed === crashed).map(({ step }) => step);
  const met = new Set(stepsThat(true).flatMap(writesOf));
  return stepsThat(false).filter((step) => writesOf(step).length === 0 || writesOf(step).some((write) => !met.has(write)));
}

function writesOf(step: string): readonly string[] {
  const [, writes] = /^(?:before|after) storing (.+)$/.exec(step) ?? [];
  return writes?.split('+') ?? [];
}

/** A row of the table of step x outcome. */
export function formatOutcome(scenario: string, { step, crashed, faults }: CrashOutcome): string {
  const reached = crashed ? 'killed, taken over, nothing lost or doubled' : 'not reached';
  return `${scenario.padEnd(20)} ${step.padEnd(60)} ${faults.length > 0 ? `BROKEN: ${faults.join('; ')}` : reached}`;
}

const ISSUE = { id: '1', identifier: 'A-1', title: 'First', state: 'todo' };

/** Dispatch, a failed turn, the retry, another turn, comments, handoff, and the cleanup after people finished it. */
const life: Scenario = {
  name: 'life',
  bounded: ['within migration 1', 'before hand-off', 'answered by handoff-answered'],
  async open(cli) {
    const ground = await createPlayground({ cli });
    const tracker =
      'kind: file\nactive_states: [todo, doing]\nterminal_states: [done]\nin_progress_state: doing\nhandoff_state: review';
    const told = 'comments: { on_dispatch: false, on_completion: true, on_failure: false }';
    const sections = {
      tracker: `${tracker}\n${told}`,
      agent: 'kind: mock\nmax_turns: 1\nmax_retry_backoff_ms: 100',
      mock: 'outcomes: [failed]',
    };
    await ground.write('WORKFLOW.md', fileWorkflow(sections));
    await ground.writeIssues([ISSUE]);
    const issue = async () => (await ground.readIssues())[0] ?? {};
    const state = async () => String((await issue())['state']);
    const comments = async () => ((await issue())['comments'] as { body: string }[] | undefined) ?? [];
    return {
      ground,
      env: {},
      async play() {
        await eventually(state, (found) => found === 'review', 'the handoff');
        await eventually(comments, (found) => found.length > 0, 'the comment');
        await ground.writeIssues([{ ...(await issue()), state: 'done' }]);
        await eventually(() => gone(ground), Boolean, 'the cleanup');
      },
      async faults() {
        const written = await comments();
        return [
          ...((await state()) === 'done' ? [] : [`the issue ended as ${await state()}`]),
          ...(written.length === 1 ? [] : [`${written.length} comments instead of one`]),
        ];
      },
      close: () => ground.cleanup(),
    };
  },
};

async function gone(ground: Playground): Promise<boolean> {
  return ground.read('ws/A-1/.foray/.gitignore').then(
    () => false,
    () => true,
  );
}

/** A handed-off issue whose merge request is approved and green: merged, its branch deleted, the issue completed. */
const mergeOn = (kind: string): Scenario => mergeScenario(`merge ${kind}`, kind, 'green');

/** The same, whose checks fail first: a further turn mends them. */
const reactionOn = (kind: string): Scenario => mergeScenario(`reaction ${kind}`, kind, 'red');

function mergeScenario(name: string, kind: string, firstChecks: 'green' | 'red'): Scenario {
  const isBounded = kind === 'nsproject' && firstChecks === 'green';
  return { name, bounded: isBounded ? ['answered by merge-answered'] : [], open: (cli) => openMerge(cli, kind, firstChecks) };
}

async function openMerge(cli: string, kind: string, firstChecks: 'green' | 'red'): Promise<OpenScenario> {
  const ground = await createPlayground({ cli });
  const forge = await buildForge(kind);
  const id = forge.addIssue('Fix it');
  await ground.write(
    'WORKFLOW.md',
    forgeWorkflow(forge, { tracker: forgeTracker(forge, 'comments: { on_completion: true }'), reactions: reactionsOf(kind) }),
  );
  // A run that is taken up again pushes another head, which people look at anew.
  const seen = new Set<string>();
  const review = (): boolean => {
    const head = forge.head();
    if (!seen.has(head) && !forge.isMerged()) {
      const checks = seen.size === 0 ? firstChecks : 'green';
      forge.ci(forge.number(), checks, checks === 'red' ? 'a test failed' : undefined);
      if (checks === 'green') forge.approve(forge.number());
      forge.settle(forge.number());
    }
    seen.add(head);
    return forge.isMerged();
  };
  return {
    ground,
    env: forgeEnv(forge),
    async play() {
      await eventually(hasRequest, Boolean, 'the merge request');
      await eventually(review, Boolean, 'the merge');
      await eventually(
        () => forge.issueOf(id).state,
        (state) => /done|closed/.test(state),
        'the completion',
      );
      await eventually(
        () => forge.issueOf(id).labels.join(),
        (labels) => labels === 'done',
        'the label of its last state alone',
      );
      await eventually(() => forge.issueOf(id).comments.length, Boolean, 'the comment');
    },
    async faults() {
      const merges = forge.merges().length;
      const { comments, labels } = forge.issueOf(id);
      const mended = firstChecks === 'green' || seen.size > 1;
      return [
        ...(merges === 1 ? [] : [`${merges} merges were asked for`]),
        ...(comments.length === 1 ? [] : [`${comments.length} comments instead of one`]),
        ...(labels.join() === 'done' ? [] : [`the issue ended with the labels ${labels.join()}`]),
        ...(mended ? [] : ['the failed checks were never mended']),
      ];
    },
    async close() {
      await ground.cleanup();
      await forge.close();
    },
  };

  function hasRequest(): boolean {
    try {
      return forge.number() > 0;
    } catch {
      return false;
    }
  }
}

export const SCENARIOS: readonly Scenario[] = [
  life,
  ...FORGE_KINDS.map(mergeOn),
  ...FORGE_KINDS.map(reactionOn),
  reload,
  anotherTracker,
  ...FORGE_KINDS.map((kind) => deliveryScenario(kind, ['after opening the request'])),
  notifications,
];
