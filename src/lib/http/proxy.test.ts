import { describe, expect, it } from 'vitest';
import { proxyFor, proxySettings } from './proxy.ts';

const HTTP = { variable: 'HTTP_PROXY', address: 'http://proxy.test:3128' };
const env = { HTTP_PROXY: 'http://user:secret@proxy.test:3128' };

describe('the proxy for an address', () => {
  it.each([
    ['none is named', 'https://a.test', {}, null],
    ['plain http', 'http://a.test', env, HTTP],
    ['https takes that of http where it has none', 'https://a.test', env, HTTP],
    [
      'https has its own',
      'https://a.test',
      { ...env, https_proxy: 'https://p:1' },
      { variable: 'https_proxy', address: 'https://p:1' },
    ],
    ['http does not take that of https', 'http://a.test', { HTTPS_PROXY: 'http://p:1' }, null],
    ['an empty one is none', 'http://a.test', { ...env, http_proxy: '' }, null],
    ['an excepted name', 'http://a.test', { ...env, NO_PROXY: 'b.test, a.test' }, null],
    ['an excepted domain', 'http://x.a.test', { ...env, no_proxy: '.a.test' }, null],
    ['everything excepted', 'http://a.test', { ...env, NO_PROXY: '*' }, null],
    ['an excepted port', 'http://a.test:81', { ...env, NO_PROXY: 'a.test:81' }, null],
    ['another port', 'http://a.test', { ...env, NO_PROXY: 'a.test:81' }, HTTP],
    ['a name that only ends alike', 'http://ba.test', { ...env, NO_PROXY: 'a.test' }, HTTP],
  ])('%s', (_, target, variables, expected) => {
    expect(proxyFor(new URL(target), variables)).toEqual(expected);
  });
});

it.each([
  'proxy.test:3128',
  'socks5://proxy.test',
  'not an address',
  'http://proxy.test:3128/proxy',
  'http://proxy.test:3128/?a=b',
  'http://proxy.test:3128/#a',
])('%j is refused by the name of its variable', (value) => {
  expect(() => proxySettings({ HTTPS_PROXY: value })).toThrow(/^HTTPS_PROXY is not the address of a proxy: write it as http:/);
});

it.each(['http://user:secret@proxy.test:3128', 'http://proxy.test:3128/'])('%j is taken', (HTTPS_PROXY) => {
  expect(proxySettings({ HTTPS_PROXY })).toMatchObject({ httpsProxy: HTTPS_PROXY });
});
