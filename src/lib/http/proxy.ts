type Env = Readonly<Record<string, string | undefined>>;

const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'] as const;

/** What programs that we start read about proxies, in either spelling. */
export const PROXY_VARIABLES = [...VARIABLES, 'ALL_PROXY', 'all_proxy', 'NO_PROXY', 'no_proxy'] as const;

/**
 * Sends every request of this process through the proxies that the environment names, with NO_PROXY as the exception.
 * Node 20 does not do so by itself. Without such a variable nothing is loaded.
 */
export async function useProxies(env: Env): Promise<void> {
  if (!VARIABLES.some((name) => env[name])) return;
  // Bundled, a CommonJS package has all of its names under `default`.
  const { default: undici } = await import('undici');
  const { EnvHttpProxyAgent, setGlobalDispatcher } = undici;
  setGlobalDispatcher(
    new EnvHttpProxyAgent({
      httpProxy: env['http_proxy'] ?? env['HTTP_PROXY'],
      httpsProxy: env['https_proxy'] ?? env['HTTPS_PROXY'],
      noProxy: env['no_proxy'] ?? env['NO_PROXY'],
    }),
  );
}
