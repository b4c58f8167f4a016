import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createPlayground, eventually } from '../../../test/support/daemon.ts';
import { hang } from '../../../test/support/http-server.ts';
import { isAlive } from '../../../test/support/processes.ts';
import { buildStage, remoteOf, stageWorkflow } from '../../../test/e2e/trackers/stage.ts';
import { createSteadyClock } from '../../lib/steady-clock.ts';
import type { Logger } from '../../ports/runtime.ts';
import { createKnownSecrets } from '../secrets.ts';
import { readWorkflowFile, requireGood } from '../workflow.ts';
import { startDaemon } from './daemon.ts';

it('at the end of its grace a stop cuts the request that hangs, and kills the hook that hangs without asking again', async (test) => {
  const ground = await createPlayground();
  const stage = await buildStage('nsproject', ground);
  test.onTestFinished(async () => {
    await ground.cleanup();
    await stage.close();
  });
  const { proxy, isWrite } = remoteOf(stage);
  const [, hooked] = [
    await stage.add({ title: 'One', state: stage.states.todo }),
    await stage.add({ title: 'Two', state: stage.states.todo }),
  ];
  const polite = ground.path('asked-politely');
  const hook = `if [ "$FORAY_ISSUE_IDENTIFIER" = ${hooked.identifier} ]; then trap 'touch ${polite}' TERM; echo $$ > ${ground.path('pid')}; while :; do sleep 1; done; fi`;
  const sections = {
    agent: 'kind: mock\nmax_turns: 1\nstop_grace_ms: 0',
    hooks: `after_run: ${JSON.stringify(hook)}\ntimeout_ms: 600000`,
  };
  const file = await ground.write('WORKFLOW.md', stageWorkflow(stage, sections));
  const cut: unknown[] = [];
  const record = (message: string, facts: unknown): void =>
    void (message === 'stopping without what did not end in time' && cut.push(facts));
  const logger: Logger = { debug() {}, info: record, warn: record, error: record };
  const env = { PATH: process.env['PATH'], HOME: ground.dir, ...stage.env };
  const handsOff = ({ body }: { readonly body: string }): boolean => body.includes(stage.states.handoff);
  const reached = proxy.answerNext((request) => isWrite(request) && handsOff(request), hang());
  const daemon = await startDaemon({
    workflow: requireGood(await readWorkflowFile(file, env)),
    env,
    version: '0.0.0',
    port: 0,
    clock: createSteadyClock(),
    logger,
    secrets: createKnownSecrets(),
    interrupted: new AbortController().signal,
    term: null,
  });
  test.onTestFinished(async () => {
    daemon.kill();
    await daemon.done.catch(() => {});
  });
  await reached;
  const readPid = () => ground.read('pid').catch(() => '');
  const pid = Number(await eventually(readPid, (text) => text.endsWith('\n'), 'the hook'));
  const request = proxy.requests.find((one) => isWrite(one) && handsOff(one));
  let isOver = false;
  void request?.over.then(() => (isOver = true));

  daemon.stop();
  await daemon.done;
  expect(cut).toEqual([{ running: 1, writes: 'hand-off' }]);
  // Within moments: the request would be given up by itself after half a minute.
  await expect.poll(() => isOver, { timeout: 10_000 }).toBe(true);
  await eventually(
    () => isAlive(pid),
    (alive) => !alive,
    'the end of the hook',
  );
  expect(existsSync(polite)).toBe(false);
});
