import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlayground, eventually, type Playground, type RunningDaemon } from '../support/daemon.ts';
import { rawRequest } from '../support/raw-request.ts';
import { buildStage, remoteOf, stageWorkflow, type Stage } from './trackers/stage.ts';

const SECRET = 'between-the-tracker-and-us';
const BODY = '{"action":"closed","issue":{"number":1,"state":"closed"}}';

interface Vendor {
  readonly kind: string;
  readonly alias: string;
  readonly signature: string;
  readonly sign: (body: string) => string;
  readonly delivery: string;
}

const hmac = (body: string) => createHmac('sha256', SECRET).update(body).digest('hex');
const prefixed = (body: string) => `sha256=${hmac(body)}`;

const VENDORS: readonly Vendor[] = [
  { kind: 'repoissues', alias: 'github', signature: 'X-Hub-Signature-256', sign: prefixed, delivery: 'X-GitHub-Delivery' },
  { kind: 'nsproject', alias: 'gitlab', signature: 'X-Gitlab-Token', sign: () => SECRET, delivery: 'X-Gitlab-Event-UUID' },
  { kind: 'selfhosted', alias: 'gitea', signature: 'X-Gitea-Signature', sign: hmac, delivery: 'X-Gitea-Delivery' },
  { kind: 'selfhosted', alias: 'forgejo', signature: 'X-Forgejo-Signature', sign: hmac, delivery: 'X-Forgejo-Delivery' },
  { kind: 'graphql', alias: 'linear', signature: 'Linear-Signature', sign: hmac, delivery: 'Linear-Delivery' },
  { kind: 'wfboard', alias: 'jira', signature: 'X-Hub-Signature', sign: prefixed, delivery: 'X-Atlassian-Webhook-Identifier' },
];
const KINDS = [...new Set(VENDORS.map(({ kind }) => kind))];

interface House {
  readonly ground: Playground;
  readonly stage: Stage;
  readonly daemon: RunningDaemon;
}
const houses = new Map<string, House>();

/** A service on each tracker, which by itself would look again in an hour. */
beforeAll(async () => {
  await Promise.all(
    KINDS.map(async (kind) => {
      const ground = await createPlayground();
      const stage = await buildStage(kind, ground);
      const sections = { polling: 'interval_ms: 3600000', server: 'token: $DOOR\nwebhooks: { secret: $HOOK }' };
      await ground.write('WORKFLOW.md', stageWorkflow(stage, sections));
      const env = { ...stage.env, DOOR: 'not-asked-for-here', HOOK: SECRET };
      houses.set(kind, { ground, stage, daemon: await ground.start(['--port', '0'], { env }) });
      await pollsReach(kind, 1);
    }),
  );
});
afterAll(async () => {
  for (const { ground, stage } of houses.values()) {
    await ground.cleanup();
    await stage.close();
  }
});

function houseOf(kind: string): House {
  const house = houses.get(kind);
  if (house === undefined) throw new Error(`no service on ${kind}`);
  return house;
}

function polls(kind: string): number {
  const { proxy, isCandidates } = remoteOf(houseOf(kind).stage);
  return proxy.requests.filter(isCandidates).length;
}

function pollsReach(kind: string, count: number) {
  return eventually(
    () => polls(kind),
    (seen) => seen >= count,
    `poll ${count} of ${kind}`,
  );
}

function send({ kind }: Vendor, name: string, headers: Record<string, string>, body: string | Buffer = BODY) {
  const all = { 'content-type': 'application/json', ...headers };
  return rawRequest(`${houseOf(kind).daemon.url}/hooks/${name}`, { method: 'POST', headers: all, body });
}

function signed({ signature, sign, delivery }: Vendor, id: string): Record<string, string> {
  return { [signature]: sign(BODY), [delivery]: id };
}

describe.each(VENDORS)('a webhook of $alias', (vendor) => {
  it('without its signature, or with another, is 401', async () => {
    const before = polls(vendor.kind);
    const wrong = [{}, { [vendor.signature]: '' }, { [vendor.signature]: `${vendor.sign(BODY)}0` }];
    for (const headers of [...wrong, { authorization: 'Bearer not-asked-for-here' }]) {
      const answer = await send(vendor, vendor.alias, headers as Record<string, string>);
      expect([answer.status, answer.json()]).toMatchObject([401, { error: { code: 'bad_signature' } }]);
    }
    expect(polls(vendor.kind)).toBe(before);
  });

  it('of more than 1 MiB is 413, and of exactly that is taken or refused by its signature', async () => {
    const large = await send(vendor, vendor.alias, signed(vendor, 'large'), Buffer.alloc(1024 * 1024 + 1));
    expect([large.status, large.json()]).toMatchObject([413, { error: { code: 'body_too_large' } }]);
    const { status } = await send(vendor, vendor.alias, { [vendor.signature]: 'wrong' }, Buffer.alloc(1024 * 1024));
    expect(status).toBe(401);
  });

  it('is 404 under a kind that is not watched', async () => {
    for (const other of VENDORS.filter(({ kind }) => kind !== vendor.kind)) {
      for (const name of [other.kind, other.alias, 'file', 'nothing']) {
        expect((await send(vendor, name, signed(other, 'x'))).status, name).toBe(404);
      }
    }
  });
});

it(
  'brings the next poll forward once for each delivery, by either name; a replay is 202 and does nothing',
  { timeout: 60_000 },
  async () => {
    await Promise.all(
      KINDS.map(async (kind) => {
        for (const vendor of VENDORS.filter((one) => one.kind === kind)) {
          const before = polls(kind);
          const first = await send(vendor, kind, signed(vendor, `${vendor.alias} one`));
          expect([first.status, first.json()], vendor.alias).toEqual([202, { accepted: true, duplicate: false }]);
          await pollsReach(kind, before + 1);
          const replay = await send(vendor, vendor.alias, signed(vendor, `${vendor.alias} one`));
          expect([replay.status, replay.json()], vendor.alias).toEqual([202, { accepted: true, duplicate: true }]);
          // A hint that was held back for its second would have come by then.
          await delay(1_300);
          expect(polls(kind), vendor.alias).toBe(before + 1);
          const many = await Promise.all(
            [2, 3, 4, 5, 6].map((id) => send(vendor, vendor.alias, signed(vendor, `${vendor.alias} ${id}`))),
          );
          expect(many.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
          await pollsReach(kind, before + 3);
          await delay(1_300);
          expect(polls(kind), `${vendor.alias}: one at once, one for the rest`).toBe(before + 3);
        }
        const { proxy, isWrite } = remoteOf(houseOf(kind).stage);
        expect(proxy.requests.filter(isWrite), 'what the body claims is not believed').toEqual([]);
      }),
    );
  },
);

/** Whose answers say what is left of a quota, and are read for it. */
const TELLS = { repoissues: 'core', graphql: 'requests', wfboard: 'requests', nsproject: null, selfhosted: null } as const;

describe.each(Object.entries(TELLS))('the quota of %s', (kind, resource) => {
  it(
    resource === null ? 'shows nowhere' : 'shows on the board, the statistics and in the metrics, as the vendor told it',
    async () => {
      const { daemon } = houseOf(kind);
      const read = async (route: string) =>
        (await rawRequest(`${daemon.url}${route}`, { headers: { authorization: 'Bearer not-asked-for-here' } })).body;
      const [board, statistics, metrics] = await Promise.all(['/', '/statistics', '/metrics'].map(read));
      const figure = (family: string) =>
        Number(new RegExp(`^${family}\\{kind="${kind}",resource="${resource}"\\} (\\d+)$`, 'm').exec(metrics ?? '')?.[1]);
      if (resource === null) {
        expect(board).not.toContain('Requests left');
        expect(statistics).toContain('The tracker does not say how many requests are left.');
        return;
      }
      const told = `${figure('svc_quota_remaining').toLocaleString('en-US')} of ${figure('svc_quota_limit').toLocaleString('en-US')}`;
      expect(told).not.toContain('NaN');
      expect(board).toMatch(new RegExp(`Requests left[^]{0,200}title="${told}"`));
      expect(statistics).toContain(`${resource}: ${told}`);
    },
  );
});
