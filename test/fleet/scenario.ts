import { startServer, empty, type RecordedRequest } from '../support/http-server.ts';
import { openDelivery } from '../e2e/delivery-stage.ts';
import { forgeEnv } from '../e2e/reactions/forge.ts';
import type { Playground } from '../support/daemon.ts';

/**
 * The life of an issue with every kind of write to the world outside: it is moved, worked on, pushed, proposed, handed
 * off with a comment and a message, obeys a label, asks for a person, is merged, tidied up and completed.
 */
export interface Scenario {
  readonly ground: Playground;
  readonly env: Readonly<Record<string, string>>;
  /** What people do meanwhile, to the end of the scenario, whoever leads. */
  play(): Promise<void>;
  /** What is wrong at the end, or nothing. */
  faults(): Promise<readonly string[]>;
  /** Every write that arrived from a command of this version, in order. */
  writesOf(version: string): readonly string[];
  /** The head of the issue's branch. */
  head(): Promise<string>;
  close(): Promise<void>;
}

const KIND = 'nsproject';
const PATIENCE_MS = 90_000;

export async function openScenario(databaseUrl: string): Promise<Scenario> {
  const { ground, forge, origin, opened, write, close } = await openDelivery(KIND);
  const receiver = await startServer(() => empty(204));
  const id = forge.addIssue('Add a page');
  const often = `provider: ${KIND}, poll_interval_ms: 200`;
  await write('echo work >> work', {
    tracker: [
      `kind: ${KIND}`,
      `endpoint: ${forge.front.url}`,
      `project: ${forge.project}`,
      'api_key: $REACTION_TOKEN',
      forge.states,
      'in_progress_state: in-progress',
      'comments: { on_completion: true }',
    ].join('\n'),
    store: 'url: $FLEET_DB',
    polling: 'interval_ms: 500',
    agent: 'kind: mock\nmax_turns: 1\nmax_retry_backoff_ms: 200',
    notifications: '- { url: $HOOK }',
    reactions: [
      `ci_failure: { ${often}, max_retries: 0 }`,
      `label_commands: { ${often}, fix_label: foray:fix }`,
      `auto_merge: { ${often}, strategy: squash, ci_grace_ms: 0 }`,
      `merge_completion: { ${often}, target_state: done }`,
    ].join('\n'),
  });
  const labels = (): readonly string[] => forge.issueOf(id).labels;
  const fromForge = (): readonly RecordedRequest[] => forge.front.requests;
  return {
    ground,
    env: { ...forgeEnv(forge), FLEET_DB: databaseUrl, HOOK: `${receiver.url}/hook` },
    async play() {
      await until('the handoff', () => labels().includes(forge.handoff) && opened().length > 0);
      const first = forge.head();
      forge.label(forge.number(), 'foray:fix');
      await until('the turn that the label asked for', () => forge.head() !== first);
      await until('the label to go', () => !forge.labelsOf(forge.number()).includes('foray:fix'));
      forge.ci(forge.number(), 'red', 'a test failed');
      await until('the escalation', () => labels().includes('needs-human'));
      forge.ci(forge.number(), 'green');
      forge.approve(forge.number());
      forge.settle(forge.number());
      await until('the merge', () => forge.isMerged());
      await until('the completion', () => /done|closed/.test(forge.issueOf(id).state));
      await until('the news of the handoff', () => receiver.requests.length > 0);
    },
    async faults() {
      const merges = forge.merges().length;
      const comments = forge.issueOf(id).comments.filter((body) => /finished its work/.test(body));
      const told = new Set(receiver.requests.map(({ headers }) => headers['x-foray-delivery']));
      return [
        ...(merges === 1 ? [] : [`${merges} merges were asked for`]),
        ...(opened().length === 1 ? [] : [`${opened().length} requests were opened`]),
        ...(new Set(comments).size === comments.length ? [] : ['a comment came twice']),
        ...(told.size > 0 ? [] : ['nobody was told']),
      ];
    },
    writesOf: (version) =>
      [...fromForge(), ...receiver.requests]
        .filter(({ method, headers }) => method !== 'GET' && headers['user-agent'] === `svc/${version}`)
        .map(({ method, path }) => `${method} ${path}`),
    head: () => origin.git('origin.git', 'rev-parse', `foray/${id}`).catch(() => 'none'),
    async close() {
      await receiver.close();
      await close();
    },
  };
}

/** Looks until it holds; a fleet takes its time to change leaders. */
async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!isTrue(holds)) {
    if (Date.now() > deadline) throw new Error(`${what} did not come true`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** There may be no merge request yet. */
function isTrue(holds: () => boolean): boolean {
  try {
    return holds();
  } catch {
    return false;
  }
}
