import { randomBytes } from 'node:crypto';

/** The server under test, or null where nobody named one. */
export function giteaFromEnvironment(): { readonly url: string; readonly adminToken: string } | null {
  const { GITEA_URL: url = '', GITEA_ADMIN_TOKEN: adminToken = '' } = process.env;
  if (url !== '' && adminToken !== '') return { url: url.replace(/\/+$/, ''), adminToken };
  console.log(
    'skipped: set GITEA_URL and GITEA_ADMIN_TOKEN (a token of an administrator) to run against a real Gitea or Forgejo',
  );
  return null;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** What the suite does on the server besides the product: as the administrator, or as the user of another token. */
export type Call = (method: string, route: string, body?: unknown, token?: string) => Promise<Answer>;

export interface Ground {
  readonly url: string;
  readonly call: Call;
  readonly version: string;
  /** Of one run: two runs never meet. */
  readonly org: string;
  readonly repo: string;
  readonly project: string;
  /** The account of the service, with the least scopes that documents 2 and 3 ask for. */
  readonly bot: { readonly login: string; readonly token: string };
  readonly reviewer: { readonly login: string; readonly token: string };
  cleanup(): Promise<void>;
}

const BOT_SCOPES = ['write:issue', 'read:user', 'write:repository', 'read:organization'];

/** An organisation, a repository and two users of this run alone. */
export async function prepareGround({ url, adminToken }: { url: string; adminToken: string }): Promise<Ground> {
  const call = caller(url, adminToken);
  const run = randomBytes(4).toString('hex');
  const org = `foray-${run}`;
  const { version } = (await must(call, 'GET', '/version')) as { version: string };
  await must(call, 'POST', '/orgs', { username: org });
  await must(call, 'POST', `/orgs/${org}/repos`, { name: 'app', auto_init: true, default_branch: 'main' });
  const bot = await addUser({ call, url }, `${org}-bot`, BOT_SCOPES);
  const reviewer = await addUser({ call, url }, `${org}-reviewer`, ['write:issue', 'write:repository', 'read:user']);
  for (const { login } of [bot, reviewer]) {
    await must(call, 'PUT', `/repos/${org}/app/collaborators/${login}`, { permission: 'write' });
  }
  return {
    url,
    call,
    version,
    org,
    repo: 'app',
    project: `${org}/app`,
    bot,
    reviewer,
    cleanup: async () => {
      await call('DELETE', `/repos/${org}/app`);
      await call('DELETE', `/orgs/${org}`);
      for (const { login } of [bot, reviewer]) await call('DELETE', `/admin/users/${login}?purge=true`);
    },
  };
}

/** The same, where anything but success is a fault of the suite. */
export async function must(call: Call, method: string, route: string, body?: unknown, token?: string): Promise<unknown> {
  const answer = await call(method, route, body, token);
  if (answer.status < 200 || answer.status > 299) {
    throw new Error(`${method} ${route} was answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 300)}`);
  }
  return answer.body;
}

function caller(url: string, adminToken: string): Call {
  return async (method, route, body, token = adminToken) => {
    const response = await fetch(`${url}/api/v1${route}`, {
      method,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : (JSON.parse(text) as unknown) };
  };
}

// A token is made by its owner alone, with the password that is known for this moment only.
async function addUser({ call, url }: { call: Call; url: string }, login: string, scopes: readonly string[]) {
  const password = `P1-${randomBytes(12).toString('hex')}`;
  await must(call, 'POST', '/admin/users', {
    username: login,
    email: `${login}@example.org`,
    password,
    must_change_password: false,
  });
  const basic = `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`;
  const made = await makeToken(url, login, { basic, scopes });
  return { login, token: made };
}

async function makeToken(
  url: string,
  login: string,
  { basic, scopes }: { basic: string; scopes: readonly string[] },
): Promise<string> {
  const response = await fetch(`${url}/api/v1/users/${login}/tokens`, {
    method: 'POST',
    headers: { authorization: basic, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'suite', scopes }),
    signal: AbortSignal.timeout(30_000),
  });
  const { sha1 } = (await response.json()) as { sha1?: string };
  if (!sha1) throw new Error(`no token for ${login}: status ${response.status}`);
  return sha1;
}
