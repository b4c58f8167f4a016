import type { EnvHttpProxyAgent } from 'undici';

type Env = Readonly<Record<string, string | undefined>>;

const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'] as const;

/** What programs that we start read about proxies, in either spelling. */
export const PROXY_VARIABLES = [...VARIABLES, 'ALL_PROXY', 'all_proxy', 'NO_PROXY', 'no_proxy'] as const;

/** The proxies that the environment names, with NO_PROXY as the exception; null where it names none. Throws for one that is no address. */
export function proxySettings(env: Env): EnvHttpProxyAgent.Options | null {
  const set = VARIABLES.filter((name) => env[name]);
  if (set.length === 0) return null;
  for (const name of set) checkProxy(name, env[name] ?? '');
  return {
    httpProxy: env['http_proxy'] ?? env['HTTP_PROXY'],
    httpsProxy: env['https_proxy'] ?? env['HTTPS_PROXY'],
    noProxy: env['no_proxy'] ?? env['NO_PROXY'],
  };
}

/** The library would say that some address is wrong, and not which. It takes none with a path, a query or a fragment. */
function checkProxy(name: string, value: string): void {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url && /^https?:$/.test(url.protocol) && `${url.pathname}${url.search}${url.hash}` === '/') return;
  throw new Error(`${name} is not the address of a proxy: write it as http://HOST:PORT, or unset it`);
}

/** The variable that names the proxy for an address, and where that proxy is; null where it is reached without one. */
export function proxyFor(target: URL, env: Env): ProxyUse | null {
  const pairs = target.protocol === 'https:' ? [HTTPS, HTTP] : [HTTP];
  // The first spelling that is set counts, also when it is empty, as it does in the library.
  const name = pairs
    .map((pair) => pair.find((one) => env[one] !== undefined))
    .find((one) => one !== undefined && env[one] !== '');
  if (name === undefined || !URL.canParse(env[name] ?? '') || isExcepted(target, env['no_proxy'] ?? env['NO_PROXY'] ?? ''))
    return null;
  const { protocol, host } = new URL(env[name] ?? '');
  return { variable: name, address: `${protocol}//${host}` };
}

export interface ProxyUse {
  readonly variable: string;
  /** Without the credentials that may be in it. */
  readonly address: string;
}

const HTTP = ['http_proxy', 'HTTP_PROXY'] as const;
const HTTPS = ['https_proxy', 'HTTPS_PROXY'] as const;

/** Names, `.suffixes` and ports of NO_PROXY, as the library reads them. */
function isExcepted({ protocol, host, port }: URL, exceptions: string): boolean {
  if (exceptions === '*') return true;
  const name = host.replace(/:\d*$/, '').toLowerCase();
  const targetPort = port || (protocol === 'https:' ? '443' : '80');
  return exceptions
    .split(/[,\s]/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, before, asked] = /^(.+):(\d+)$/.exec(entry) ?? [];
      const domain = (before ?? entry).replace(/^\*?\./, '').toLowerCase();
      return (asked === undefined || asked === targetPort) && (name === domain || name.endsWith(`.${domain}`));
    });
}
