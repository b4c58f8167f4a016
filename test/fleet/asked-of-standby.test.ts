import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildForge, forgeEnv, forgeWorkflow, type Forge } from '../e2e/reactions/forge.ts';
import { createPlayground, eventually, type Playground } from '../support/daemon.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

const SECRET = 'webhook-secret-of-the-test';

let postgres: TestPostgres;
let forge: Forge;
let ground: Playground;
beforeAll(async () => {
  [postgres, forge, ground] = await Promise.all([
    startPostgres(),
    buildForge('nsproject'),
    createPlayground({ patienceMs: 30_000 }),
  ]);
});
afterAll(async () => {
  await ground?.cleanup();
  await forge?.close();
  await postgres?.remove();
});

/** Lists of candidates that were asked for. */
const polls = (): number =>
  forge.front.requests.filter(({ method, path }) => method === 'GET' && path.endsWith('/issues')).length;

async function pollsAfter(act: () => Promise<Response>): Promise<Response> {
  const before = polls();
  const answer = await act();
  await eventually(polls, (count) => count > before, 'a poll of the leader');
  return answer;
}

it('what a standby is asked for reaches the leader: webhooks, refreshes, pauses', { timeout: 90_000 }, async () => {
  const url = await postgres.createDatabase();
  const sections = {
    store: 'url: $FLEET_DB',
    polling: 'interval_ms: 3600000',
    server: 'webhooks:\n  secret: $HOOK_SECRET',
    reactions: 'merge_completion: { provider: nsproject, target_state: done }',
  };
  await ground.write('WORKFLOW.md', forgeWorkflow(forge, sections));
  const env = { ...forgeEnv(forge), FLEET_DB: url, HOOK_SECRET: SECRET };
  const leader = await ground.start(['--port', '0'], { env });
  await leader.record('leading');
  await eventually(polls, (count) => count > 0, 'the first poll');
  const standby = await ground.start(['--port', '0'], { env });
  expect(await standby.json('/readyz')).toMatchObject({ role: 'standby', leader: { pid: leader.pid } });

  const hook = (to: typeof leader, id: string, token = SECRET): Promise<Response> =>
    to.get('/hooks/gitlab', { method: 'POST', body: '{}', headers: { 'x-gitlab-token': token, 'x-gitlab-event-uuid': id } });
  expect((await hook(standby, 'one', 'wrong')).status).toBe(401);
  const taken = await pollsAfter(() => hook(standby, 'one'));
  expect(taken.status).toBe(202);
  expect(await taken.json()).toMatchObject({ accepted: true, duplicate: false });
  await eventually(
    async () => (await hook(leader, 'one')).json() as Promise<{ duplicate: boolean }>,
    ({ duplicate }) => duplicate,
    'the leader to know the delivery',
  );
  expect(await (await hook(standby, 'one')).json()).toMatchObject({ duplicate: true });

  expect((await pollsAfter(() => standby.get('/api/v1/refresh', { method: 'POST' }))).status).toBe(202);
  const paused = await standby.get('/api/v2/pause', {
    method: 'POST',
    body: '{"reason":"lunch"}',
    headers: { 'content-type': 'application/json' },
  });
  expect(paused.status).toBe(202);
  expect(await postgres.query('SELECT reason FROM foray.operator_pause', url)).toEqual([{ reason: 'lunch' }]);
  await Promise.all([leader.stop(), standby.stop()]);
});
