import type { Problem } from '../domain/model/problem.ts';
import type { RepoSettings, ScmConnection, TrackerSettings } from '../domain/model/settings.ts';
import { isLoopback } from './loopback.ts';
import { blamingUnset, type ExpandedConnection, type Env, expand, type Expanded, unsetNote } from './expand.ts';

/** The keys of `workspace` that are about its repository. */
export interface RepoKeys {
  readonly repo?: string | undefined;
  readonly repo_token?: string | undefined;
  readonly base_branch?: string | undefined;
  readonly push?: boolean | undefined;
}

export interface RepoContext {
  readonly env: Env;
  /** Null or undefined when the tracker's own keys are faulty. */
  readonly tracker: TrackerSettings | null | undefined;
  /** Whether the tracker is a forge, which has merge requests. */
  readonly trackerIsForge: boolean;
  /** The forge of the reactions, where there are some. */
  readonly reactions: ScmConnection | null;
}

export interface ReadRepo {
  readonly repo: RepoSettings | null;
  readonly problems: readonly Problem[];
}

/** `workspace.repo` and what belongs to it. */
export function readRepo(keys: RepoKeys, context: RepoContext): ReadRepo {
  if (keys.repo === undefined) {
    const problems = keys.push === true ? [fault('push', 'workspace.push needs workspace.repo: name the repository')] : [];
    return { repo: null, problems };
  }
  const url = expand(keys.repo.trim(), 'anywhere', context.env);
  const address = addressOf(url.value);
  if (typeof address === 'string')
    return { repo: null, problems: [blamingUnset(fault('repo', `${address}${unsetNote(url)}`), url)] };
  const connection = connectionTo(address, context);
  const given = expanded(keys.repo_token, context.env);
  const token = given?.value.trim() || (connection?.apiKey ?? '');
  const push = keys.push ?? context.trackerIsForge;
  const repo: RepoSettings = {
    url: url.value,
    token: address.isHttp && token !== '' ? token : null,
    baseBranch: keys.base_branch ?? null,
    push,
    owner: address.owner,
    name: address.name,
    connection,
  };
  return { repo, problems: tokenProblems(repo, address, given) };
}

/** What the secrets of the repository keys are, in the form of a tracker's. */
export function repoSecrets(keys: RepoKeys, env: Env): ExpandedConnection {
  return { api_key: expanded(keys.repo_token, env), endpoint: expanded(keys.repo, env), project: null };
}

function expanded(text: string | undefined, env: Env): Expanded | null {
  return text === undefined ? null : expand(text, 'anywhere', env);
}

interface RemoteAddress {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
  readonly isHttp: boolean;
}

/** Where a repository is, or what is wrong with its address. */
function addressOf(url: string): RemoteAddress | string {
  const scp = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)(.+)$/.exec(url);
  if (scp) return named(scp[1] ?? '', scp[2] ?? '', false);
  if (url.startsWith('/')) return named('', url, false);
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return 'must be an address such as git@host:owner/name.git or https://host/owner/name.git, or an absolute path';
  }
  if (parsed.password !== '' || (parsed.username !== '' && parsed.protocol.startsWith('http'))) {
    return 'holds a credential: write the address without it, and the token as $NAME in workspace.repo_token';
  }
  if (!['https:', 'http:', 'ssh:', 'file:'].includes(parsed.protocol))
    return 'must start with https://, http://, ssh://, file:// or git@host:, or be an absolute path';
  return named(parsed.host, parsed.pathname, parsed.protocol.startsWith('http'));
}

function named(host: string, path: string, isHttp: boolean): RemoteAddress | string {
  const segments = path
    .replace(/\.git\/?$/, '')
    .split('/')
    .filter((segment) => segment !== '');
  const name = segments.pop();
  if (name === undefined) return 'names no repository';
  return { host: host.toLowerCase(), owner: segments.join('/'), name, isHttp };
}

/** The forge that the repository is on: the tracker itself or that of the reactions. */
function connectionTo(address: RemoteAddress, { tracker, trackerIsForge, reactions }: RepoContext): ScmConnection | null {
  const project = `${address.owner}/${address.name}`;
  if (tracker && trackerIsForge && isSameHost(address.host, tracker.endpoint)) {
    const { kind, name, apiKey, endpoint, userAgent } = tracker;
    return { kind, name, apiKey: apiKey.trim(), endpoint, project, userAgent: userAgent ?? 'svc/dev' };
  }
  return reactions !== null && isSameHost(address.host, reactions.endpoint) ? { ...reactions, project } : null;
}

/** Ports aside: a forge may serve git and its API on different ones. */
function isSameHost(host: string, endpoint: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const api = new URL(endpoint).hostname.toLowerCase();
  const bare = host.replace(/:\d+$/, '');
  return bare === api || `api.${bare}` === api;
}

/** Without a token nothing can be pushed by http; with one, plain http shows it to everybody on the way. */
function tokenProblems(repo: RepoSettings, address: RemoteAddress, given: Expanded | null): readonly Problem[] {
  const { url, token, push, connection } = repo;
  // A forge on that host whose own token is empty is told of already.
  if (token === null) return push && address.isHttp && connection === null ? [withoutToken(address, given)] : [];
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname) ? [insecure(address)] : [];
}

function withoutToken({ host }: RemoteAddress, given: Expanded | null): Problem {
  const why = unsetNote(given) || ': no forge of this file is on that host, so set workspace.repo_token: $NAME, or push: false';
  return blamingUnset(fault('repo_token', `pushing to ${host} needs a token${why}`), given);
}

function insecure({ host }: RemoteAddress): Problem {
  return {
    severity: 'warning',
    check: 'workspace.repo.insecure',
    message: `workspace.repo http://${host} is plain http: the token is sent in cleartext`,
    key: ['workspace', 'repo'],
  };
}

function fault(key: string, message: string): Problem {
  return { severity: 'error', check: `workspace.${key}`, message, key: ['workspace', key] };
}
