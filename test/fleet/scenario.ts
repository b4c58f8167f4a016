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
  /** Every write that says that it is of a command of this version, in order. */
  writesOf(version: string): readonly string[];
  /** The head of the issue's branch. */
  head(): Promise<string>;
  close(): Promise<void>;
}

/** By which way the work is merged: at once, or by a queue of the forge's. */
export const WAYS = { 'at once': 'nsproject', 'merge train': 'nsproject', 'merge queue': 'repoissues' } as const;
export type Way = keyof typeof WAYS;

const PATIENCE_MS = 90_000;

export async function openScenario(databaseUrl: string, way: Way = 'at once'): Promise<Scenario> {
  const kind = WAYS[way];
  const { ground, forge, origin, opened, write, close } = await openDelivery(kind);
  const receiver = await startServer(() => empty(204));
  const id = forge.addIssue('Add a page');
  const often = `provider: ${kind}, poll_interval_ms: 200`;
  await write('echo work >> work', {
    tracker: [
      `kind: ${kind}`,
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
  const merges = (): readonly RecordedRequest[] => (way === 'at once' ? forge.merges() : fromForge().filter(entersQueue));

  /** The shorter scenario: the forge merges what entered its queue. */
  async function queueUp(): Promise<void> {
    const number = forge.number();
    forge.queue?.open(number);
    forge.ci(number, 'green');
    forge.approve(number);
    forge.settle(number);
    await until('the entry in the queue', () => forge.queue?.holds(number) === true);
    forge.mergeByHand(number);
    await until('the completion', () => /done|closed/.test(forge.issueOf(id).state));
    await until('the news of the handoff', () => receiver.requests.length > 0);
  }
  return {
    ground,
    env: { ...forgeEnv(forge), FLEET_DB: databaseUrl, HOOK: `${receiver.url}/hook` },
    async play() {
      await until('the handoff', () => labels().includes(forge.handoff) && opened().length > 0);
      if (way !== 'at once') return queueUp();
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
      const times = merges().length;
      const comments = forge.issueOf(id).comments.filter((body) => /finished its work/.test(body));
      const told = new Set(receiver.requests.map(({ headers }) => headers['x-foray-delivery']));
      return [
        ...(times === 1 ? [] : [`${times} merges were asked for`]),
        ...(opened().length === 1 ? [] : [`${opened().length} requests were opened`]),
        ...(new Set(comments).size === comments.length ? [] : ['a comment came twice']),
        ...(told.size > 0 ? [] : ['nobody was told']),
      ];
    },
    writesOf: (version) =>
      [...fromForge(), ...receiver.requests]
        .filter((request) => isWrite(request) && request.headers['user-agent'] === `svc/${version}`)
        .map(({ method, path }) => `${method} ${path}`),
    head: () => origin.git('origin.git', 'rev-parse', `foray/${id}`).catch(() => 'none'),
    async close() {
      await receiver.close();
      await close();
    },
  };
}

/** Questions in GraphQL are sent as writes are. */
function isWrite({ method, path, body }: RecordedRequest): boolean {
  return method !== 'GET' && (!path.endsWith('/graphql') || body.includes('mutation'));
}

function entersQueue({ method, path, body }: RecordedRequest): boolean {
  return method === 'POST' && (path.includes('/merge_trains/') || body.includes('enqueuePullRequest'));
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
