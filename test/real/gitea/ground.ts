import { randomBytes } from 'node:crypto';

/** The server under test, or null where nobody named one. */
export function giteaFromEnvironment(): { readonly url: string; readonly adminToken: string } | null {
  const { GITEA_URL: url = '', GITEA_ADMIN_TOKEN: adminToken = '' } = process.env;
  return url === '' || adminToken === '' ? null : { url: url.replace(/\/+$/, ''), adminToken };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** What the suite does on the server besides the product: as the administrator, or as the user of another token. */
export type Call = (method: string, route: string, body?: unknown, token?: string) => Promise<Answer>;

export interface Account {
  readonly login: string;
  readonly token: string;
  /** Another token of the same account. */
  tokenWith(scopes: readonly string[]): Promise<string>;
}

/** What one test file has of the server: an organisation of its own, so that two runs never meet. */
export interface Ground {
  readonly url: string;
  readonly call: Call;
  readonly version: string;
  readonly org: string;
  /** The account of the service, with the least scopes that documents 2 and 3 ask for. */
  readonly bot: Account;
  readonly reviewer: Account;
  /** Reviews like a program. */
  readonly linter: Account;
  /** Sees the repositories and may change nothing. */
  readonly guest: Account;
  /** A further repository of the organisation, with one commit; the people above work on it. */
  addRepo(name?: string): Promise<string>;
  cleanup(): Promise<void>;
}

/** The least a token needs: document 2 for the issues, document 3 for merges and branches. */
export const TRACKER_SCOPES = ['write:issue', 'read:user', 'read:repository'] as const;
export const MERGE_SCOPES = ['write:issue', 'read:user', 'write:repository'] as const;

export async function prepareGround({ url, adminToken }: { url: string; adminToken: string }): Promise<Ground> {
  const call = caller(url, adminToken);
  const org = `foray-${randomBytes(4).toString('hex')}`;
  const { version } = (await must(call, 'GET', '/version')) as { version: string };
  await must(call, 'POST', '/orgs', { username: org });
  const people = ['bot', 'reviewer', 'linter', 'guest'].map((name) => addAccount({ call, url }, `${org}-${name}`));
  const [bot, reviewer, linter, guest] = (await Promise.all(people)) as [Account, Account, Account, Account];
  const repos: string[] = [];
  return {
    url,
    call,
    version,
    org,
    bot,
    reviewer,
    linter,
    guest,
    addRepo: async (name = `r${String(repos.length + 1)}`) => {
      await must(call, 'POST', `/orgs/${org}/repos`, { name, auto_init: true, default_branch: 'main' });
      repos.push(name);
      for (const { login } of [bot, reviewer, linter]) {
        await must(call, 'PUT', `/repos/${org}/${name}/collaborators/${login}`, { permission: 'write' });
      }
      return `${org}/${name}`;
    },
    cleanup: async () => {
      for (const name of repos) await call('DELETE', `/repos/${org}/${name}`);
      await call('DELETE', `/orgs/${org}`);
      for (const { login } of [bot, reviewer, linter, guest]) await call('DELETE', `/admin/users/${login}?purge=true`);
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

// A token is made by its owner alone, with the password that is known to this process only.
async function addAccount({ call, url }: { call: Call; url: string }, login: string): Promise<Account> {
  const password = `P1-${randomBytes(12).toString('hex')}`;
  const facts = { username: login, email: `${login}@example.org`, password, must_change_password: false };
  await must(call, 'POST', '/admin/users', facts);
  const basic = `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`;
  const tokenWith = (scopes: readonly string[]) => makeToken(url, login, { basic, scopes });
  return { login, tokenWith, token: await tokenWith(MERGE_SCOPES) };
}

async function makeToken(
  url: string,
  login: string,
  { basic, scopes }: { basic: string; scopes: readonly string[] },
): Promise<string> {
  const response = await fetch(`${url}/api/v1/users/${login}/tokens`, {
    method: 'POST',
    headers: { authorization: basic, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `suite-${randomBytes(4).toString('hex')}`, scopes }),
    signal: AbortSignal.timeout(30_000),
  });
  const { sha1 } = (await response.json()) as { sha1?: string };
  if (!sha1) throw new Error(`no token for ${login}: status ${String(response.status)}`);
  return sha1;
}
