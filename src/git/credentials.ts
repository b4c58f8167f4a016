import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { PROXY_VARIABLES } from '../lib/http/proxy.ts';
import { replaceFile } from '../lib/short-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What git sees of the daemon's environment where it only touches this machine: filters and drivers of an agent may run. */
const INHERITED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'TMPDIR', 'LANG', 'LC_ALL'] as const;

/** What it sees besides where it talks to the remote: SSH, proxies and certificates. */
const INHERITED_REMOTE = ['SSH_AUTH_SOCK', 'GIT_SSH_COMMAND', 'GIT_SSL_CAINFO', ...PROXY_VARIABLES] as const;

/** The user name a forge takes beside a token; GitLab and Gitea take any, GitHub asks for this one. */
export const TOKEN_USER = 'x-access-token';

/**
 * The helper git asks for a name and a password. It answers for one address alone, and takes the password from
 * descriptor 3, which it reads once: so the credential stands in no file, environment or argument.
 */
const ASKPASS = `#!/bin/sh
case "$1" in
"Username for '$FORAY_GIT_ADDRESS': ") echo '${TOKEN_USER}' ;;
"Password for '$FORAY_GIT_LOGIN': ") head -n 1 <&3 ;;
*) exit 1 ;;
esac
`;

/** Leaves the settings of the user out. */
export const NO_OTHER_SETTINGS = { GIT_CONFIG_GLOBAL: '/dev/null' };

/** Environment of git where it talks to the remote. Only system settings and those given here count. */
export async function remoteEnvironment(folder: string, url: string, env: Env): Promise<Record<string, string>> {
  const address = httpAddressOf(url);
  return {
    ...plainEnvironment(env),
    ...pick(env, INHERITED_REMOTE),
    ...plainProxy(env),
    ...(await certificates(folder, env)),
    ...NO_OTHER_SETTINGS,
    GIT_ASKPASS: writeAskpass(folder),
    ...(address && {
      FORAY_GIT_ADDRESS: address.href,
      FORAY_GIT_LOGIN: address.href.replace('://', `://${TOKEN_USER}@`),
    }),
  };
}

/** Environment of git where it only touches this machine. */
export function plainEnvironment(env: Env): Record<string, string> {
  return { ...pick(env, INHERITED), GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
}

function pick(env: Env, names: readonly string[]): Record<string, string> {
  const known = names.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(known);
}

/** For http addresses git reads the small letters only; our own requests read both. */
function plainProxy({ http_proxy: small, HTTP_PROXY: large }: Env): Record<string, string> {
  return small === undefined && large !== undefined ? { http_proxy: large } : {};
}

/** Null for an SSH address or a path: no password is ever given to those. */
export function httpAddressOf(url: string): URL | null {
  if (!/^https?:\/\//i.test(url)) return null;
  try {
    return new URL(url);
  } catch {
    return null;
  }
}

/** Agents can write there: whatever stands in its place is replaced, and not written to. */
function writeAskpass(folder: string): string {
  const file = path.join(folder, 'askpass');
  replaceFile(file, ASKPASS, 0o700);
  return file;
}

/** Node adds NODE_EXTRA_CA_CERTS to its own certificates; git takes one file, so it gets both in one. */
async function certificates(folder: string, env: Env): Promise<Record<string, string>> {
  const extra = env.NODE_EXTRA_CA_CERTS;
  if (!extra || env.GIT_SSL_CAINFO) return {};
  const file = path.join(folder, 'certificates.pem');
  const added = await readFile(extra, 'utf8').catch(() => '');
  if (added === '') return {};
  replaceFile(file, `${rootCertificates.join('\n')}\n${added}`);
  return { GIT_SSL_CAINFO: file };
}
