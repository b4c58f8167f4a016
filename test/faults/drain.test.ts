import { createServer, type Server } from 'node:http';
import { chmod } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createPlayground, eventually, parseRecords } from '../support/daemon.ts';
import { hang } from '../support/http-server.ts';
import { buildStage, remoteOf, stageWorkflow } from '../e2e/trackers/stage.ts';

/** By `npm run test:faults` only: it waits for the ceiling. `src/orchestrator/drain.test.ts` walks every effect. */
const FULL = process.env['FORAY_FAULTS'] === 'full';
const GRACE_MS = 1_000;
/** The last traces to a collector that does not take them, and the last records. */
const CLOSING_MS = 3_000 + 2_000;
/** A busy machine is late. */
const LATE_MS = 4_000;

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

it.runIf(FULL)('a stop ends although nothing answers: tracker, agent, hook, receiver, collector, reader', async (test) => {
  const ground = await createPlayground();
  const stage = await buildStage('nsproject', ground);
  const { proxy } = remoteOf(stage);
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
  proxy.shut(hang());

  const begin = performance.now();
  const { code, stderr } = await daemon.stop();
  const tookMs = performance.now() - begin;
  const [cut] = parseRecords(stderr).filter(({ msg }) => msg === 'stopping without what did not end in time');
  expect(cut).toMatchObject({ writes: 'write-out' });
  expect(tookMs).toBeLessThan(GRACE_MS + 10_000 + CLOSING_MS + LATE_MS);
  expect(code).toBe(0);
  expect(stderr).not.toContain('    at ');
  reader.destroy();
});
