import type { Dispatcher } from 'undici';
import { once } from '../once.ts';
import { proxySettings } from './proxy.ts';

/**
 * What makes the connections of this process and keeps them alive, through the proxies that the environment names. The
 * library inside of Node is another one with every version of Node, and is for `fetch` alone.
 */
export const connections = once(async (): Promise<Dispatcher> => {
  // Bundled, a CommonJS package has all of its names under `default`.
  const { default: undici } = await import('undici');
  const proxies = proxySettings(process.env);
  return proxies === null ? new undici.Agent() : new undici.EnvHttpProxyAgent(proxies);
});
