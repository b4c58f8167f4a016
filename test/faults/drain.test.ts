import { createServer, type Server } from 'node:http';
import { chmod } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createPlayground, eventually } from '../support/daemon.ts';
import { hang } from '../support/http-server.ts';
import type { Matcher } from '../e2e/reactions/front.ts';
import { forgeHooks, forgeTracker, type Forge } from '../e2e/reactions/forge.ts';
import { openScene, type Scene } from '../e2e/reactions/scene.ts';
import { buildStage, remoteOf, stageWorkflow } from '../e2e/trackers/stage.ts';

/** All of it by `npm run test:faults`; in the whole suite two of them, each waits for the ceiling. */
const FULL = process.env['FORAY_FAULTS'] === 'full';
const GRACE_MS = 1_000;
const CEILING_MS = GRACE_MS + 10_000;
/** The last traces to a collector that does not take them, and the last records. */
const CLOSING_MS = 3_000 + 2_000;
/** A busy machine is late. */
const LATE_MS = 4_000;
const CUT = 'stopping without what did not end in time';

const AGENT = `kind: mock\nmax_turns: 1\nstop_grace_ms: ${GRACE_MS}`;
/** Says that it runs, and hears no polite word. */
const STUCK = `trap '' TERM INT HUP; touch "$HOME/stuck"; sleep 600`;

/** One write that hangs: how it comes to it, and what is told of it at the end of the grace. */
interface Hang {
  readonly what: string;
  readonly isBounded?: boolean;
  /** Sections of the workflow. */
  sections?(forge: Forge): Readonly<Record<string, string>>;
  /** The request that is never answered; none where a hook hangs. */
  request?(forge: Forge): Matcher;
  /** What people do once there is a merge request; nothing where it hangs before. */
  act?(forge: Forge): void;
  readonly cut: Readonly<Record<string, string>>;
}

const isIssueWrite =
  (words: string): Matcher =>
  ({ method, path, body }) =>
    method === 'PUT' && /\/issues\/\d+$/.test(path) && body.includes(words);

const merged = (forge: Forge): void => {
  forge.ci(forge.number(), 'green');
  forge.approve(forge.number());
  forge.settle(forge.number());
};

const HANGS: readonly Hang[] = [
  {
    what: 'the handoff',
    isBounded: true,
    request: ({ handoff }) => isIssueWrite(handoff),
    cut: { running: '0', writes: 'hand-off' },
  },
  {
    what: 'a comment',
    sections: (forge) => ({ tracker: forgeTracker(forge, 'comments: { on_completion: true }') }),
    request: ({ is }) => is.comment,
    cut: { running: '0', writes: 'write-out' },
  },
  { what: 'a merge', request: ({ is }) => is.merge, act: merged, cut: { running: '0', writes: 'merge' } },
  {
    what: 'the deletion of a branch',
    request: ({ is }) => is.branchDeletion,
    act: merged,
    cut: { running: '0', writes: 'delete-branch' },
  },
  {
    what: 'the completion of an issue',
    request: ({ is }) => is.completion,
    act: merged,
    cut: { running: '0', writes: 'complete' },
  },
  {
    what: 'the removal of a label',
    request:
      () =>
      ({ method, path, body }) =>
        method === 'PUT' && /\/merge_requests\/\d+$/.test(path) && body.includes('remove_labels'),
    act: (forge) => forge.label(forge.number(), 'foray:fix'),
    cut: { writes: 'remove-label' },
  },
  {
    what: 'the hook before a workspace is removed',
    isBounded: true,
    sections: (forge) => ({ hooks: forgeHooks(forge, `before_remove: ${JSON.stringify(STUCK)}\ntimeout_ms: 600000`) }),
    act: merged,
    cut: { running: '0', writes: 'remove-workspace' },
  },
  {
    what: 'the hook after a run',
    sections: () => ({ hooks: `after_run: ${JSON.stringify(STUCK)}\ntimeout_ms: 600000` }),
    cut: { running: '1' },
  },
];

describe('a stop while something hangs for good ends at the ceiling, and says what it cut off', () => {
  it.concurrent.for(HANGS.filter(({ isBounded }) => FULL || isBounded))('$what', { timeout: 120_000 }, async (row, test) => {
    const scene = await openScene('nsproject', test);
    const { forge } = scene;
    const reached = row.request ? forge.front.answerNext(row.request(forge), hang()) : isStuck(scene);
    const sections = { agent: AGENT, ...row.sections?.(forge) };
    const daemon = await (row.act ? scene.begin(sections) : scene.start(sections));
    row.act?.(forge);
    await reached;

    const begin = performance.now();
    const { code, records, stderr } = await daemon.stop();
    const tookMs = performance.now() - begin;
    expect(records.filter(({ msg }) => msg === CUT)).toMatchObject([row.cut]);
    expect(tookMs).toBeGreaterThan(CEILING_MS - 100);
    expect(tookMs).toBeLessThan(CEILING_MS + CLOSING_MS + LATE_MS);
    expect(code).toBe(0);
    expect(stderr).not.toContain('    at ');
  });
});

describe.runIf(FULL)('a stop while a finished session is verified for good', () => {
  it.concurrent('ends it before the ceiling, with its last hook', { timeout: 120_000 }, async (test) => {
    const scene = await openScene('nsproject', test);
    const verification = `verification_commands: [${JSON.stringify(STUCK)}]\nverification_timeout_ms: 600000`;
    const sections = { agent: AGENT, self_review: `enabled: true\n${verification}`, hooks: 'after_run: touch "$HOME/tidied"' };
    const daemon = await scene.start(sections);
    await isStuck(scene);
    const begin = performance.now();
    const { code, records } = await daemon.stop();
    expect(performance.now() - begin).toBeLessThan(CEILING_MS - 100);
    expect(code).toBe(0);
    expect(records.filter(({ msg }) => msg === CUT)).toEqual([]);
    await scene.ground.read('tidied');
  });
});

async function isStuck({ ground }: Scene): Promise<void> {
  const look = () =>
    ground.read('stuck').then(
      () => true,
      () => false,
    );
  await eventually(look, Boolean, 'the hook');
}

/** Ignores every polite word. */
const STUBBORN = `#!/bin/sh
trap '' TERM INT HUP
touch "$HOME/agent-runs"
while :; do sleep 1; done
`;

/** Takes connections and requests, and never answers. */
async function startSilent(): Promise<{ url: string; heard(): boolean; close(): void }> {
  let heard = false;
  const server: Server = createServer(() => (heard = true));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, heard: () => heard, close: () => void (server.closeAllConnections(), server.close()) };
}

it.runIf(FULL)('a stop waits for no read, agent, hook before a run, receiver, collector or reader', async (test) => {
  const ground = await createPlayground();
  const stage = await buildStage('nsproject', ground);
  const { proxy, isWrite } = remoteOf(stage);
  const [receiver, collector] = [await startSilent(), await startSilent()];
  test.onTestFinished(async () => {
    receiver.close();
    collector.close();
    await ground.cleanup();
    await stage.close();
  });
  await chmod(await ground.write('agent.sh', STUBBORN), 0o755);
  const [failing, hooked] = await Promise.all(
    ['One', 'Two', 'Three'].map((title) => stage.add({ title, state: stage.states.todo })),
  );
  const hooks = `before_run: |
  if [ "$FORAY_ISSUE_IDENTIFIER" = ${hooked?.identifier} ]; then trap '' TERM INT; touch "$HOME/hook-runs"; sleep 600; fi
  if [ "$FORAY_ISSUE_IDENTIFIER" = ${failing?.identifier} ]; then exit 1; fi
timeout_ms: 600000`;
  const sections = {
    agent: `kind: claude-code\ncommand: [${ground.path('agent.sh')}]\nmax_turns: 1\nstop_grace_ms: ${GRACE_MS}`,
    hooks,
    notifications: '- { url: $HOOK, on: [failed] }',
  };
  await ground.write('WORKFLOW.md', stageWorkflow(stage, sections));
  const env = { ...stage.env, HOOK: `${receiver.url}/hook`, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const daemon = await ground.start(['--port', '0'], { env });
  const reader = connect(Number(new URL(daemon.url).port), '127.0.0.1');
  reader.write('GET /api/v2/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  reader.pause();
  reader.on('error', () => {});
  for (const file of ['agent-runs', 'hook-runs'])
    await eventually(
      () => ground.read(file).catch(() => null),
      (text) => text !== null,
      file,
    );
  await eventually(receiver.heard, Boolean, 'the message to the receiver');
  const before = proxy.requests.length;
  proxy.shut(hang());
  await eventually(
    () => proxy.requests.length,
    (count) => count > before,
    'a read that hangs',
  );

  const begin = performance.now();
  const { code, records, stderr } = await daemon.stop();
  const tookMs = performance.now() - begin;
  expect(proxy.requests.slice(before).filter(isWrite)).toEqual([]);
  expect(records.filter(({ msg }) => msg === CUT)).toEqual([]);
  expect(tookMs).toBeLessThan(CEILING_MS + CLOSING_MS);
  expect(code).toBe(0);
  expect(stderr).not.toContain('    at ');
  reader.destroy();
});
